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
struct ChildTree {
  BlockStore& store;

  // Returns the new root. REQUIRES: no child has the same tokens.
  BlockId insert(BlockId root, BlockId child) const;
  BlockId erase(BlockId root, BlockId child) const;

  // The child with exactly these tokens, or kNoBlock.
  BlockId find(BlockId root, std::span<const TokenId> tokens) const;

  struct Nearest {
    BlockId block = kNoBlock;
    std::int64_t shared = 0;  // tokens in common
  };
  // The child that shares most with `tokens`; shared may be 0. Of equals, the one that `tokens`
  // could continue.
  Nearest nearest(BlockId root, std::span<const TokenId> tokens) const;
};

}  // namespace quire
