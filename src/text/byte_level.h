// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "text/pre_tokenizer.h"

namespace quire {

// The patterns that nearly all byte-level tokenizers use, matched by hand: a pattern's alternatives
// are decided by the class of one or two characters.
enum class WordPattern {
  kGpt2,
  kLlama3,  // up to three digits together, contractions in either case
  kQwen2,   // as kLlama3 with single digits
};

// The pattern that `regex` spells, or nullptr for another one. Static storage.
const WordPattern* known_word_pattern(std::string_view regex);

// Cuts `text` (valid UTF-8) as the pattern does, isolating matches; appends spans moved by `base`.
void scan_words(std::string_view text, WordPattern pattern, std::size_t base,
                std::vector<Pieces::Span>& out);

// Cuts at a known pattern's matches, each isolated.
class WordPatternSplit final : public PreTokenizer {
 public:
  explicit WordPatternSplit(WordPattern pattern) : pattern_(pattern) {}
  void apply(Pieces& pieces) const override;

 private:
  WordPattern pattern_;
};

// Puts a space before each piece that has none (add_prefix_space), cuts by GPT-2's pattern
// (use_regex), and writes the bytes in byte letters unless the model takes them raw.
class ByteLevelSplit final : public PreTokenizer {
 public:
  ByteLevelSplit(bool add_prefix_space, bool use_regex, bool raw_bytes);
  void apply(Pieces& pieces) const override;

 private:
  bool add_prefix_space_;
  bool use_regex_;
  bool raw_bytes_;
};

}  // namespace quire
