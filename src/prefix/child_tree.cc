// SPDX-License-Identifier: Apache-2.0
#include "prefix/child_tree.h"

#include <algorithm>
#include <utility>

namespace quire {
namespace {

bool less(std::span<const TokenId> a, std::span<const TokenId> b) {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end());
}

std::int64_t common_prefix(std::span<const TokenId> a, std::span<const TokenId> b) {
  const std::size_t n = std::min(a.size(), b.size());
  const auto end = std::mismatch(a.begin(), a.begin() + static_cast<std::ptrdiff_t>(n), b.begin());
  return end.first - a.begin();
}

// Splits the tree at `root` into what is less than `tokens` and what is not.
std::pair<BlockId, BlockId> split(BlockStore& store, BlockId root,
                                  std::span<const TokenId> tokens) {
  BlockId low = kNoBlock;
  BlockId high = kNoBlock;
  BlockId* low_end = &low;
  BlockId* high_end = &high;
  while (root != kNoBlock) {
    Block& block = store[root];
    if (less(store.tokens(root), tokens)) {
      *low_end = root;
      low_end = &block.right;
      root = block.right;
    } else {
      *high_end = root;
      high_end = &block.left;
      root = block.left;
    }
  }
  *low_end = kNoBlock;
  *high_end = kNoBlock;
  return {low, high};
}

// Joins two trees, everything in `low` being less than everything in `high`.
BlockId join(BlockStore& store, BlockId low, BlockId high) {
  BlockId root = kNoBlock;
  BlockId* end = &root;
  while (low != kNoBlock && high != kNoBlock) {
    if (store[low].key.high > store[high].key.high) {
      *end = low;
      end = &store[low].right;
      low = *end;
    } else {
      *end = high;
      end = &store[high].left;
      high = *end;
    }
  }
  *end = low != kNoBlock ? low : high;
  return root;
}

}  // namespace

BlockId insert_child(BlockStore& store, BlockId root, BlockId child) {
  const std::span<const TokenId> tokens = store.tokens(child);
  BlockId* link = &root;
  while (*link != kNoBlock && store[*link].key.high > store[child].key.high) {
    Block& block = store[*link];
    link = less(store.tokens(*link), tokens) ? &block.right : &block.left;
  }
  const auto [low, high] = split(store, *link, tokens);
  store[child].left = low;
  store[child].right = high;
  *link = child;
  return root;
}

BlockId erase_child(BlockStore& store, BlockId root, BlockId child) {
  const std::span<const TokenId> tokens = store.tokens(child);
  BlockId* link = &root;
  while (*link != child) {
    Block& block = store[*link];
    link = less(store.tokens(*link), tokens) ? &block.right : &block.left;
  }
  *link = join(store, store[child].left, store[child].right);
  store[child].left = store[child].right = kNoBlock;
  return root;
}

BlockId find_child(const BlockStore& store, BlockId root, std::span<const TokenId> tokens) {
  while (root != kNoBlock) {
    const std::span<const TokenId> here = store.tokens(root);
    if (less(here, tokens)) {
      root = store[root].right;
    } else if (less(tokens, here)) {
      root = store[root].left;
    } else {
      return root;
    }
  }
  return kNoBlock;
}

NearestChild nearest_child(const BlockStore& store, BlockId root, std::span<const TokenId> tokens) {
  BlockId below = kNoBlock;  // the greatest child less than `tokens`
  BlockId above = kNoBlock;  // the least child not less
  while (root != kNoBlock) {
    if (less(store.tokens(root), tokens)) {
      below = root;
      root = store[root].right;
    } else {
      above = root;
      root = store[root].left;
    }
  }
  NearestChild best;
  if (below != kNoBlock) best = {below, common_prefix(store.tokens(below), tokens)};
  if (above != kNoBlock) {
    const std::int64_t shared = common_prefix(store.tokens(above), tokens);
    if (best.block == kNoBlock || shared > best.shared) best = {above, shared};
  }
  return best;
}

}  // namespace quire
