// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace quire {

// A pattern of a tokenizer file, written for Oniguruma's Ruby syntax (what Hugging Face tokenizers
// runs), compiled by PCRE2 in UTF mode with its JIT. Where the two dialects read a construct
// differently (\s, \w, \b, \h, {n,m}+, ^ and $, class intersections), it is rewritten first: see
// pcre_pattern().
//
// Thread-safety: immutable; every method may be called concurrently.
class Regex {
 public:
  // `subject` (a file) names the pattern in errors. Throws Error kUnsupported with the pattern.
  Regex(std::string_view pattern, std::string_view subject);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  // Calls visit(begin, end) for each match in a valid UTF-8 text, in order. An empty match right
  // behind another match is passed over, others are reported.
  // Throws Error kInvalidArgument when the pattern needs more than a bounded number of steps.
  void for_each_match(std::string_view text,
                      const std::function<void(std::size_t, std::size_t)>& visit) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// `pattern` as PCRE2 has to read it. Throws Error kUnsupported for what has no counterpart.
std::string pcre_pattern(std::string_view pattern, std::string_view subject);

// `text` with everything special escaped.
std::string escaped_pattern(std::string_view text);

}  // namespace quire
