// SPDX-License-Identifier: Apache-2.0
#include "text/byte_tokens.h"

#include <charconv>
#include <string>

namespace quire {

std::array<TokenId, 256> byte_token_ids(const Vocabulary& vocabulary) {
  constexpr std::string_view kDigits = "0123456789ABCDEF";
  std::array<TokenId, 256> ids;
  for (std::size_t byte = 0; byte < ids.size(); ++byte) {
    const char piece[] = {'<', '0', 'x', kDigits[byte >> 4], kDigits[byte & 15], '>'};
    ids[byte] = vocabulary.find({piece, sizeof(piece)});
  }
  return ids;
}

int byte_token_value(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece[5] != '>') return -1;
  unsigned int value = 0;
  const char* end = piece.data() + 5;
  const auto parsed = std::from_chars(piece.data() + 3, end, value, 16);
  return parsed.ec == std::errc() && parsed.ptr == end ? static_cast<int>(value) : -1;
}

}  // namespace quire
