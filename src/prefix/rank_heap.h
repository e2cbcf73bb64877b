// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "io/make_room.h"
#include "prefix/block_store.h"

namespace quire {

// True if `a` is to be evicted before `b`: lower priority, then lower rank, then less recently
// used, then deeper, then older.
inline bool evicted_before(const Block& a, const Block& b) {
  if (a.priority != b.priority) return a.priority < b.priority;
  if (a.rank != b.rank) return a.rank < b.rank;
  if (a.used != b.used) return a.used < b.used;
  if (a.depth != b.depth) return a.depth > b.depth;
  return a.inserted < b.inserted;
}

// The blocks that may be evicted, the next victim on top. Blocks know their slot, so that any of
// them can leave or move in O(log n).
//
// Thread-safety: none.
class RankHeap {
 public:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;

  bool empty() const { return slots_.empty(); }
  BlockId top() const { return slots_.front(); }
  std::size_t bytes() const { return slots_.capacity() * sizeof(BlockId); }

  // Room for so many blocks in all: push() does not fail then.
  void make_room(std::size_t count) { quire::make_room(slots_, count); }

  void push(BlockStore& store, BlockId id) {
    slots_.push_back(id);
    sift_up(store, slots_.size() - 1);
  }

  void erase(BlockStore& store, BlockId id) {
    const std::size_t slot = store[id].heap_slot;
    const BlockId last = slots_.back();
    slots_.pop_back();
    store[id].heap_slot = kAbsent;
    if (last == id) return;
    place(store, slot, last);
    update(store, last);
  }

  // After the rank of a block in the heap changed.
  void update(BlockStore& store, BlockId id) {
    sift_up(store, store[id].heap_slot);
    sift_down(store, store[id].heap_slot);
  }

 private:
  void place(BlockStore& store, std::size_t slot, BlockId id) {
    slots_[slot] = id;
    store[id].heap_slot = static_cast<std::uint32_t>(slot);
  }

  void sift_up(BlockStore& store, std::size_t slot) {
    const BlockId id = slots_[slot];
    while (slot > 0) {
      const std::size_t up = (slot - 1) / 2;
      if (!evicted_before(store[id], store[slots_[up]])) break;
      place(store, slot, slots_[up]);
      slot = up;
    }
    place(store, slot, id);
  }

  void sift_down(BlockStore& store, std::size_t slot) {
    const BlockId id = slots_[slot];
    while (true) {
      std::size_t down = 2 * slot + 1;
      if (down >= slots_.size()) break;
      if (down + 1 < slots_.size() &&
          evicted_before(store[slots_[down + 1]], store[slots_[down]])) {
        ++down;
      }
      if (!evicted_before(store[slots_[down]], store[id])) break;
      place(store, slot, slots_[down]);
      slot = down;
    }
    place(store, slot, id);
  }

  std::vector<BlockId> slots_;
};

}  // namespace quire
