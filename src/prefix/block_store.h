// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prefix_index.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace quire {

// One block of the index, or the root of a namespace (depth 0, no tokens, the namespace's own key).
struct Block {
  BlockKey key;
  std::uint64_t payload = 0;
  std::uint64_t inserted = 0;  // ticks
  std::uint64_t used = 0;
  std::int64_t expires = 0;
  double rank = 0;
  BlockId parent = kNoBlock;
  std::uint32_t depth = 0;
  std::uint32_t uses = 0;
  std::uint32_t holds = 0;
  std::uint32_t child_count = 0;
  BlockId child_root = kNoBlock;  // of the tree of children, see child_tree.h
  BlockId left = kNoBlock;        // in the parent's tree of children
  BlockId right = kNoBlock;
  std::uint32_t heap_slot = UINT32_MAX;  // see rank_heap.h
  std::uint16_t length = 0;              // tokens
  std::uint8_t priority = 0;
};

// Blocks and their tokens in chunks that never move, with a free list.
//
// Thread-safety: none.
class BlockStore {
 public:
  explicit BlockStore(std::int64_t block_size) : block_size_(block_size) {}

  // Room for so many more blocks: allocate() does not fail then.
  void make_room(BlockId count);
  BlockId allocate();
  void free(BlockId id);  // never fails

  Block& operator[](BlockId id) { return chunks_[id / kChunk].blocks[id % kChunk]; }
  const Block& operator[](BlockId id) const { return chunks_[id / kChunk].blocks[id % kChunk]; }

  // Room for block_size tokens.
  TokenId* token_data(BlockId id) {
    return chunks_[id / kChunk].tokens.get() + static_cast<std::int64_t>(id % kChunk) * block_size_;
  }
  std::span<const TokenId> tokens(BlockId id) const {
    const Chunk& chunk = chunks_[id / kChunk];
    return {chunk.tokens.get() + static_cast<std::int64_t>(id % kChunk) * block_size_,
            chunk.blocks[id % kChunk].length};
  }

  std::size_t bytes() const;

 private:
  static constexpr BlockId kChunk = 1024;
  struct Chunk {
    std::unique_ptr<Block[]> blocks;
    std::unique_ptr<TokenId[]> tokens;
  };

  std::int64_t block_size_;
  std::vector<Chunk> chunks_;
  std::vector<BlockId> free_;
  BlockId next_ = 0;
};

// Full blocks by key: open addressing, linear probing, at most 3/4 full.
//
// Thread-safety: none.
class KeyTable {
 public:
  explicit KeyTable(int hash_bits);

  BlockKey reduce(BlockKey key) const { return {key.low & mask_low_, key.high & mask_high_}; }

  // The block with this (reduced) key, or kNoBlock.
  BlockId find(const BlockStore& store, const BlockKey& key) const;

  // Room for so many more blocks: insert() does not fail then.
  void make_room(const BlockStore& store, std::size_t count);
  // REQUIRES: no block of this key is present.
  void insert(const BlockStore& store, BlockId id);
  void erase(const BlockStore& store, BlockId id);

  std::size_t bytes() const { return slots_.capacity() * sizeof(BlockId); }

 private:
  std::size_t home(const BlockKey& key) const;
  void grow(const BlockStore& store);

  std::uint64_t mask_low_;
  std::uint64_t mask_high_;
  std::vector<BlockId> slots_;
  std::size_t used_ = 0;
};

}  // namespace quire
