// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/tokenizer.h>

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace quire {

// The texts that a tokenizer reads as control tokens ("<|im_end|>"), and where they stand in a
// text.
//
// Thread-safety: immutable after construction.
class SpecialText {
 public:
  struct Span {
    std::size_t begin;
    std::size_t size;
    bool operator==(const Span&) const = default;
  };

  // Walks the vocabulary once.
  explicit SpecialText(const Tokenizer& tokenizer);
  explicit SpecialText(std::vector<std::string> texts);

  // Leftmost first, of several at one place the longest, without overlap: as tokenizers do.
  std::vector<Span> find(std::string_view text) const;

  // `text` with `mark` put after the first character of everything in it that spells a control
  // token, or begins one that what follows the text might complete (blanks at its end aside, since
  // templates trim).
  std::string break_up(std::string_view text, std::string_view mark) const;

 private:
  std::size_t longest_at(std::string_view text, std::size_t at) const;  // 0: none
  bool may_begin(std::string_view tail) const;

  std::vector<std::string> texts_;
  std::unordered_set<std::string_view> lookup_;  // views of texts_
  std::set<std::size_t, std::greater<>> sizes_;
  std::vector<bool> first_bytes_ = std::vector<bool>(256);
};

}  // namespace quire
