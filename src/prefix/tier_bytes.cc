// SPDX-License-Identifier: Apache-2.0
#include "prefix/tier_bytes.h"

#include <xxhash.h>

namespace quire {

namespace {
constexpr std::uint32_t kSign = 0x80000000u;
}

std::vector<std::byte> sortable_bytes(std::span<const TokenId> tokens) {
  std::vector<std::byte> bytes;
  bytes.reserve(tokens.size() * 4);
  for (const TokenId token : tokens) {
    const std::uint32_t value = static_cast<std::uint32_t>(token) ^ kSign;
    for (int shift = 24; shift >= 0; shift -= 8) {
      bytes.push_back(static_cast<std::byte>(value >> shift));
    }
  }
  return bytes;
}

std::vector<TokenId> tokens_of(std::span<const std::byte> sortable) {
  std::vector<TokenId> tokens;
  tokens.reserve(sortable.size() / 4);
  for (std::size_t at = 0; at + 4 <= sortable.size(); at += 4) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      value = value << 8 | std::to_integer<std::uint32_t>(sortable[at + i]);
    }
    tokens.push_back(static_cast<TokenId>(value ^ kSign));
  }
  return tokens;
}

std::uint64_t page_checksum(std::span<const std::byte> page, const BlockKey& block,
                            std::int64_t group) {
  return XXH3_64bits_withSeed(page.data(), page.size(),
                              block.low + static_cast<std::uint64_t>(group));
}

}  // namespace quire
