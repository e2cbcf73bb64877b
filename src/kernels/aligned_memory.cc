// SPDX-License-Identifier: Apache-2.0
#include "kernels/aligned_memory.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace quire {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

// So large that the allocator maps it for itself and gives it back at once.
constexpr std::size_t kPiece = std::size_t{64} << 20;

std::size_t whole(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

}  // namespace

AlignedMemory allocate_aligned(std::size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  const std::size_t size = whole(bytes, alignment);
  void* memory = std::aligned_alloc(alignment, size);
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) madvise(memory, size, MADV_HUGEPAGE);  // a wish: failure changes nothing
  return AlignedMemory(static_cast<std::byte*>(memory), [](std::byte* p) { std::free(p); });
}

AlignedMemory WeightArena::take(std::size_t bytes) {
  const std::size_t taken = whole(bytes, kAlignment);
  if (taken > size_ - used_) {
    const std::size_t size = std::max(kPiece, whole(taken, kHugePage));
    piece_ = allocate_aligned(size);
    size_ = size;
    used_ = 0;
  }
  AlignedMemory memory(piece_, piece_.get() + used_);
  used_ += taken;
  return memory;
}

}  // namespace quire
