// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace quire {

// UTF-8 as Unicode's table 3-7 defines it: no surrogates, no overlong forms, nothing past U+10FFFF.
// An ill-formed text is read as Python and Rust read it: one U+FFFD for each maximal part that
// could have begun a character.
//
// Thread-safety: functions without state; Utf8Assembler belongs to one thread.

// What stands at the front of some bytes.
struct Utf8Front {
  enum class Kind { kCharacter, kIllFormed, kTruncated };
  Kind kind;
  std::size_t length;  // bytes of the character, or of the ill-formed or truncated part; >= 1
};

// REQUIRES: bytes is not empty.
Utf8Front utf8_front(std::string_view bytes);

bool is_valid_utf8(std::string_view bytes);

// `bytes` with every ill-formed part replaced.
std::string to_valid_utf8(std::string_view bytes);

void append_utf8(std::string& out, char32_t character);

// The character at `at` of a valid text, and its length. REQUIRES: at < text.size(), text is valid,
// at is the first byte of a character.
struct Utf8Character {
  char32_t value;
  std::size_t length;
};
Utf8Character character_at(std::string_view text, std::size_t at);

// Where the character that ends just before `end` begins. REQUIRES: end > 0, text is valid.
std::size_t previous_character(std::string_view text, std::size_t end);

// Characters of a valid text.
std::size_t count_characters(std::string_view text);

// Joins bytes that arrive in any portions to whole characters.
class Utf8Assembler {
 public:
  // Appends to `out` what is certain.
  void push(std::string_view bytes, std::string& out);
  // Appends what was held back, as U+FFFD.
  void finish(std::string& out);

 private:
  std::string held_;  // the begin of a character, fewer than 4 bytes
};

}  // namespace quire
