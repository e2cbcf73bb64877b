// SPDX-License-Identifier: Apache-2.0
#include "kernels/aligned_memory.h"

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace quire {
namespace {

constexpr std::size_t kAlignment = 64;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

}  // namespace

void FreeMemory::operator()(std::byte* memory) const noexcept { std::free(memory); }

AlignedMemory allocate_aligned(std::size_t bytes) {
  const bool huge = bytes >= 2 * kHugePage;
  const std::size_t alignment = huge ? kHugePage : kAlignment;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  void* memory = std::aligned_alloc(alignment, whole);
  if (memory == nullptr) throw std::bad_alloc();
  if (huge) madvise(memory, whole, MADV_HUGEPAGE);  // a wish: failure changes nothing
  return AlignedMemory(static_cast<std::byte*>(memory));
}

}  // namespace quire
