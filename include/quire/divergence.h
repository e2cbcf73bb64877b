// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/generator.h>
#include <quire/request.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// What often makes two prompts differ that were meant to begin alike.
enum class Suspect {
  kDefaultSystemPrompt,  // the template fills in one of its own where no message gives one
  kSystemPrompt,         // the messages give different ones, or only one side gives one
  kDate,                 // a date or time
  kTrailingSpace,        // white space at the end of a text
  kWhiteSpace,           // white space elsewhere
  kToolOrder,            // the same tools in another order
  kTools,                // other tools
};

// "default system prompt injected by the template", "other system prompt", "date",
// "trailing space", "white space", "tool order", "other tools".
QUIRE_EXPORT std::string_view to_string(Suspect suspect);

// One of two prompts, where they part.
struct DivergenceSide {
  std::optional<TokenId> id = {};  // none: it ends there
  std::string text = {};           // of this token
  std::string before = {};         // the end of what comes before it, at most 40 characters
  std::string after = {};          // and what it begins, at most 40
  // Where the token begins: characters from the beginning of the message's content, or of the
  // prompt. None in what the template adds.
  std::optional<std::int64_t> message = {};
  std::optional<std::int64_t> character = {};
};

struct Divergence {
  std::int64_t shared = 0;                 // tokens in common
  std::optional<std::int64_t> index = {};  // of the first that differs; none: the prompts are equal
  DivergenceSide a;
  DivergenceSide b;
  std::vector<Suspect> suspects = {};
};

// Where what two requests are read as parts, and what may have made it so. From there on nothing
// that was computed for one serves the other. The requests may be of texts, messages or ids.
// Throws Error as Generator::tokenize.
QUIRE_EXPORT Divergence find_divergence(const Generator& generator, const Request& a,
                                        const Request& b);

}  // namespace quire
