// SPDX-License-Identifier: Apache-2.0
#include "text/byte_letters.h"

#include <array>

#include "text/utf8.h"

namespace quire {

namespace {

constexpr char32_t kLetterEnd = 0x144;  // 256 + the 68 bytes that are not printable

struct Alphabet {
  std::array<std::string, 256> letters;
  std::array<int, kLetterEnd> bytes;
};

bool is_printable(int byte) {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
}

const Alphabet& alphabet() {
  static const Alphabet made = [] {
    Alphabet out;
    out.bytes.fill(-1);
    char32_t spare = 256;
    for (int byte = 0; byte < 256; ++byte) {
      const char32_t letter = is_printable(byte) ? static_cast<char32_t>(byte) : spare++;
      append_utf8(out.letters[static_cast<std::size_t>(byte)], letter);
      out.bytes[letter] = byte;
    }
    return out;
  }();
  return made;
}

}  // namespace

std::string_view byte_letter(unsigned char byte) { return alphabet().letters[byte]; }

int letter_byte(char32_t letter) { return letter < kLetterEnd ? alphabet().bytes[letter] : -1; }

std::string spell_bytes(std::string_view bytes) {
  std::string out;
  out.reserve(2 * bytes.size());
  for (const char byte : bytes) out.append(byte_letter(static_cast<unsigned char>(byte)));
  return out;
}

std::optional<std::string> spelled_bytes(std::string_view letters) {
  std::string out;
  for (std::size_t at = 0; at < letters.size();) {
    const auto [letter, length] = character_at(letters, at);
    const int byte = letter_byte(letter);
    if (byte < 0) return std::nullopt;
    out.push_back(static_cast<char>(byte));
    at += length;
  }
  return out;
}

}  // namespace quire
