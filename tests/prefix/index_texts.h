// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prefix_index.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace quire::testing {

inline constexpr BlockKey kSpace{1, 2};
inline constexpr BlockKey kOther{3, 4};

inline PrefixIndex make_index(std::int64_t block_size, std::int64_t capacity = 0,
                              int hash_bits = 128) {
  PrefixIndexOptions options;
  options.block_size = block_size;
  options.capacity_blocks = capacity;
  options.hash_bits = hash_bits;
  return PrefixIndex(std::move(options));
}

// Stores all of `tokens`, the open last block too; returns the last block.
inline BlockId store(PrefixIndex& index, const TokenIds& tokens, std::int64_t block_size,
                     const BlockKey& space = kSpace, std::int64_t expires = 0) {
  BlockId parent = kNoBlock;
  for (std::size_t at = 0; at < tokens.size(); at += static_cast<std::size_t>(block_size)) {
    const auto n = std::min(tokens.size() - at, static_cast<std::size_t>(block_size));
    const auto id =
        index.insert(space, parent, std::span(tokens).subspan(at, n), {.expires = expires});
    if (!id) break;
    parent = *id;
  }
  return parent;
}

inline IndexMatch find(PrefixIndex& index, const TokenIds& tokens, const BlockKey& space = kSpace,
                       std::int64_t now = 0) {
  return index.lookup(space, tokens, std::ssize(tokens), now);
}

// All tokens up to the end of a block.
inline TokenIds path_of(const PrefixIndex& index, BlockId block) {
  TokenIds path;
  for (; block != kNoBlock; block = index.parent(block)) {
    const auto tokens = index.tokens(block);
    path.insert(path.begin(), tokens.begin(), tokens.end());
  }
  return path;
}

}  // namespace quire::testing
