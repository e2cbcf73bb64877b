// SPDX-License-Identifier: Apache-2.0
// Uninitialised memory for weights, 64-byte aligned.
#pragma once

#include <cstddef>
#include <memory>

namespace quire {

using AlignedMemory = std::shared_ptr<std::byte[]>;

// Throws std::bad_alloc.
AlignedMemory allocate_aligned(std::size_t bytes);

// Hands out memory from large pieces that the system is asked to map by huge pages: weights that
// are read from end to end for every token then miss the address caches a few hundred times less
// often. A piece lives as long as what was handed out of it; what is never touched is never
// resident.
//
// Thread-safety: none; what it hands out is independent.
class WeightArena {
 public:
  // Throws std::bad_alloc.
  AlignedMemory take(std::size_t bytes);

 private:
  AlignedMemory piece_;
  std::size_t size_ = 0;
  std::size_t used_ = 0;
};

}  // namespace quire
