// SPDX-License-Identifier: Apache-2.0
#include "kernels/aligned_memory.h"

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "gtest/gtest.h"

namespace quire {
namespace {

TEST(WeightArena, HandsOutAlignedMemoryThatDoesNotOverlapAndOutlivesIt) {
  struct Part {
    AlignedMemory memory;
    std::size_t size;
  };
  std::vector<Part> parts;
  {
    WeightArena arena;
    // The large one fits into no piece, those after it begin another.
    for (const std::size_t size : {1U, 64U, 65U, 1000U, 70U << 20, 3U, 40U << 20, 40U << 20}) {
      parts.push_back({arena.take(size), size});
    }
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(parts[i].memory.get()) % 64, 0U);
    std::memset(parts[i].memory.get(), static_cast<int>(i + 1), parts[i].size);
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = static_cast<std::byte>(i + 1);
    EXPECT_EQ(parts[i].memory[0], value);
    EXPECT_EQ(parts[i].memory[parts[i].size - 1], value);
  }
}

TEST(WeightArena, SaysWhenThereIsNoMemory) {
  WeightArena arena;
  EXPECT_THROW(arena.take(SIZE_MAX / 2), std::bad_alloc);
  EXPECT_NE(arena.take(10), nullptr);
}

}  // namespace
}  // namespace quire
