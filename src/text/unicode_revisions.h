// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <iterator>
#include <optional>

namespace quire {

// Where the character tables behind Hugging Face tokenizers differ from utf8proc's (Unicode 14):
// they come from several revisions of Unicode, older ones for punctuation, marks and normal forms,
// newer ones for letters, numbers and case. Found by comparing every code point with tokenizers
// 0.23; only scripts added to Unicode lately are concerned.
//
// Thread-safety: functions without state.

enum class UnicodeProperty : std::uint8_t {
  kLetter,         // \p{L} of the patterns
  kNumber,         // \p{N} of the patterns
  kNumeric,        // what the Digits pre-tokenizer takes for a digit
  kWordCharacter,  // \w where a word ends for added tokens and the Whitespace pre-tokenizer
  kPunctuation,
  kMark,
  kNonspacingMark,
  kControlOrFormat,  // what BERT's clean-up removes
};

// Whether `c` has the property, where the tables differ.
std::optional<bool> revised(UnicodeProperty property, char32_t c);

// The lower case of `c`, where the tables differ.
std::optional<char32_t> revised_lower_case(char32_t c);

// True if normal forms leave `c` alone although utf8proc decomposes it.
bool stays_composed(char32_t c, bool compatibility);

}  // namespace quire
