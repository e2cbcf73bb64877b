// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/json.h"
#include "text/added_tokens.h"
#include "text/pipeline.h"

namespace quire {

// Reads one entry of added_tokens or added_tokens_decoder, all but its id.
AddedToken read_added_token(const JsonObject& object);

// What tokenizer_config.json (and, where that is silent, special_tokens_map.json and
// added_tokens.json) beside a tokenizer says about it.
//
// Thread-safety: a value.
struct TokenizerConfig {
  std::string subject;  // the file, for messages
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::optional<std::string> unk_token;
  std::vector<std::string> special_tokens;  // every name above, and pad, cls, sep, mask and others
  std::optional<bool> add_bos_token;
  std::optional<bool> add_eos_token;
  std::optional<bool> legacy;     // a space before every part of the text between added tokens
  std::vector<AddedToken> added;  // beyond those of the tokenizer's own file, perhaps

  // Adds the tokens that only the config knows and marks those it calls special.
  void amend(std::vector<AddedToken>& tokens, const Vocabulary& vocabulary) const;

  // Sets bos, eos, unk and what add_bos_token and add_eos_token ask for, as transformers does.
  // Throws Error kCorrupt naming a BOS or EOS token that is not in the vocabulary.
  void apply(TokenizerParts& parts) const;
};

// Throws Error kCorrupt naming the file and the key. Absent files give an empty config.
TokenizerConfig read_tokenizer_config(const std::filesystem::path& folder);

}  // namespace quire
