// SPDX-License-Identifier: Apache-2.0
#include "prefix/block_store.h"

namespace quire {

void BlockStore::make_room(BlockId count) {
  while (free_.size() + chunks_.size() * kChunk - next_ < count) {
    free_.reserve((chunks_.size() + 1) * kChunk);
    chunks_.push_back(
        {std::make_unique<Block[]>(kChunk),
         std::make_unique<TokenId[]>(kChunk * static_cast<std::size_t>(block_size_))});
  }
}

BlockId BlockStore::allocate() {
  make_room(1);
  if (free_.empty()) return next_++;
  const BlockId id = free_.back();
  free_.pop_back();
  return id;
}

void BlockStore::free(BlockId id) {
  (*this)[id] = Block{};
  free_.push_back(id);
}

std::size_t BlockStore::bytes() const {
  const std::size_t per_block =
      sizeof(Block) + static_cast<std::size_t>(block_size_) * sizeof(TokenId);
  return chunks_.size() * kChunk * per_block + chunks_.capacity() * sizeof(Chunk) +
         free_.capacity() * sizeof(BlockId);
}

KeyTable::KeyTable(int hash_bits)
    : mask_low_(hash_bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << hash_bits) - 1),
      mask_high_(hash_bits >= 128  ? ~std::uint64_t{0}
                 : hash_bits <= 64 ? 0
                                   : (std::uint64_t{1} << (hash_bits - 64)) - 1),
      slots_(64, kNoBlock) {}

// The low half is a hash already; spreading it again matters only for reduced ones.
std::size_t KeyTable::home(const BlockKey& key) const {
  return static_cast<std::size_t>(key.low ^ (key.low >> 32)) & (slots_.size() - 1);
}

BlockId KeyTable::find(const BlockStore& store, const BlockKey& key) const {
  for (std::size_t slot = home(key); slots_[slot] != kNoBlock;
       slot = (slot + 1) & (slots_.size() - 1)) {
    if (store[slots_[slot]].key == key) return slots_[slot];
  }
  return kNoBlock;
}

void KeyTable::make_room(const BlockStore& store, std::size_t count) {
  while ((used_ + count) * 4 > slots_.size() * 3) grow(store);
}

void KeyTable::insert(const BlockStore& store, BlockId id) {
  make_room(store, 1);
  std::size_t slot = home(store[id].key);
  while (slots_[slot] != kNoBlock) slot = (slot + 1) & (slots_.size() - 1);
  slots_[slot] = id;
  ++used_;
}

void KeyTable::erase(const BlockStore& store, BlockId id) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t hole = home(store[id].key);
  while (slots_[hole] != id) hole = (hole + 1) & mask;
  // Close the gap: move back every later entry of the run whose home is not behind the hole.
  for (std::size_t slot = (hole + 1) & mask; slots_[slot] != kNoBlock; slot = (slot + 1) & mask) {
    const std::size_t from_home = (slot - home(store[slots_[slot]].key)) & mask;
    if (from_home >= ((slot - hole) & mask)) {
      slots_[hole] = slots_[slot];
      hole = slot;
    }
  }
  slots_[hole] = kNoBlock;
  --used_;
}

void KeyTable::grow(const BlockStore& store) {
  std::vector<BlockId> old(slots_.size() * 2, kNoBlock);
  old.swap(slots_);
  for (const BlockId id : old) {
    if (id == kNoBlock) continue;
    std::size_t slot = home(store[id].key);
    while (slots_[slot] != kNoBlock) slot = (slot + 1) & (slots_.size() - 1);
    slots_[slot] = id;
  }
}

}  // namespace quire
