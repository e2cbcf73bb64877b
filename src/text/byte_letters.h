// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace quire {

// The alphabet of byte-level BPE (GPT-2): each byte is written as one printable letter, itself
// where it is printable in Latin-1, else the next free one from U+0100.
//
// Thread-safety: functions without state.

// The letter of a byte, in UTF-8.
std::string_view byte_letter(unsigned char byte);

// The byte a letter stands for, -1 if none.
int letter_byte(char32_t letter);

// `bytes` spelled in letters.
std::string spell_bytes(std::string_view bytes);

// The bytes that valid UTF-8 `letters` spell; nothing if one of them is no letter of the alphabet.
std::optional<std::string> spelled_bytes(std::string_view letters);

}  // namespace quire
