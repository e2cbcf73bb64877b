// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace quire {

// What all tiers' formats share.

// Token ids as bytes whose order is that of the ids: big-endian, the sign flipped.
std::vector<std::byte> sortable_bytes(std::span<const TokenId> tokens);
std::vector<TokenId> tokens_of(std::span<const std::byte> sortable);

// XXH3-64 of a page's bytes, bound to the block and layer group they belong to.
std::uint64_t page_checksum(std::span<const std::byte> page, const BlockKey& block,
                            std::int64_t group);

inline std::span<const TokenId> block_of(const TierText& text, std::int64_t block) {
  const std::int64_t from = block * text.block_size;
  return text.tokens.subspan(
      static_cast<std::size_t>(from),
      static_cast<std::size_t>(std::min(text.block_size, std::ssize(text.tokens) - from)));
}

inline std::int64_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const std::size_t n = std::min(a.size(), b.size());
  std::size_t i = 0;
  while (i < n && a[i] == b[i]) ++i;
  return static_cast<std::int64_t>(i);
}

}  // namespace quire
