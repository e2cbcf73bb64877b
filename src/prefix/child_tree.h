// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "prefix/block_store.h"

namespace quire {

// The children of one block, ordered by their tokens: a treap threaded through Block::left and
// right, its priorities taken from the keys. In that order the block that shares the longest
// prefix with any given text is one of the text's two neighbours, so partial matches are exact
// and cost O(log children).
//
// Thread-safety: none.
// All return or take the root, kNoBlock for an empty tree.

// REQUIRES: no child has the same tokens.
BlockId insert_child(BlockStore& store, BlockId root, BlockId child);
// REQUIRES: it is there.
BlockId erase_child(BlockStore& store, BlockId root, BlockId child);

// The child with exactly these tokens, or kNoBlock.
BlockId find_child(const BlockStore& store, BlockId root, std::span<const TokenId> tokens);

struct NearestChild {
  BlockId block = kNoBlock;
  std::int64_t shared = 0;  // tokens in common
};
// The child that shares most with `tokens`; shared may be 0. Of equals, the one that comes before.
NearestChild nearest_child(const BlockStore& store, BlockId root, std::span<const TokenId> tokens);

}  // namespace quire
