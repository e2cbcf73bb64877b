// SPDX-License-Identifier: Apache-2.0
#include "io/utf8.h"

#include <cstdint>
#include <cstring>

namespace quire {

std::size_t utf8_sequence(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0u) == 0x80u; };
  const unsigned first = byte(0);
  if (text.empty()) return 0;
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    // E0 would be overlong below A0, ED a surrogate from A0 on.
    const bool second = first == 0xE0   ? byte(1) >= 0xA0 && byte(1) <= 0xBF
                        : first == 0xED ? byte(1) >= 0x80 && byte(1) <= 0x9F
                                        : follows(1);
    return second && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    // F0 would be overlong below 90, F4 past U+10FFFF from 90 on.
    const bool second = first == 0xF0   ? byte(1) >= 0x90 && byte(1) <= 0xBF
                        : first == 0xF4 ? byte(1) >= 0x80 && byte(1) <= 0x8F
                                        : follows(1);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (text.size() >= 8) {  // eight ASCII characters at once
      std::uint64_t word;
      std::memcpy(&word, text.data(), sizeof word);
      if ((word & 0x8080808080808080u) == 0) {
        text.remove_prefix(8);
        continue;
      }
    }
    const std::size_t length = utf8_sequence(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace quire
