// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace quire {

// Properties of characters and normal forms of valid UTF-8 texts, as the tables behind Hugging Face
// tokenizers have them (unicode_revisions.h).
//
// Thread-safety: functions without state.

bool is_letter(char32_t c);             // L*
bool is_number(char32_t c);             // N*
bool is_numeric(char32_t c);            // N* for the Digits pre-tokenizer
bool is_mark(char32_t c);               // M*
bool is_nonspacing_mark(char32_t c);    // Mn
bool is_punctuation(char32_t c);        // P*
bool is_control_or_format(char32_t c);  // Cc, Cf, Co
bool is_white_space(char32_t c);        // the property White_Space
bool is_ascii_punctuation(char32_t c);  // ! to / : to @ [ to ` { to ~

// Letters, marks, decimal digits, connectors and joiners: \w of Rust's regular expressions.
bool is_word_character(char32_t c);

// What ends a piece in byte-level patterns: one class of each character.
enum class CharacterClass : unsigned char { kLetter, kNumber, kSpace, kOther };
CharacterClass character_class(char32_t c);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
std::string normalized(std::string_view text, NormalForm form);

// Each character's full lower case, regardless of its neighbours.
std::string lower_case(std::string_view text);

}  // namespace quire
