// SPDX-License-Identifier: Apache-2.0
#include "io/quote.h"

#include <cstddef>

#include "io/utf8.h"

namespace quire {

std::string quote(std::string_view text) {
  constexpr std::size_t kLongest = 100;
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  while (!text.empty()) {
    if (out.size() > kLongest) return out + "…\"";
    const auto first = static_cast<unsigned char>(text[0]);
    const std::size_t length = first < 0x20 || first == 0x7F ? 0 : utf8_sequence(text);
    if (length == 0) {
      out += "\\x";
      out += kHex[first >> 4];
      out += kHex[first & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

std::string label(std::string_view name) {
  const std::string quoted = quote(name);
  return !name.empty() && quoted.size() == name.size() + 2 ? std::string(name) : quoted;
}

}  // namespace quire
