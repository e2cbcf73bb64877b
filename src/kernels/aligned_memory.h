// SPDX-License-Identifier: Apache-2.0
// Uninitialised memory for weights: 64-byte aligned, on huge pages where it fills some.
#pragma once

#include <cstddef>
#include <memory>

namespace quire {

struct FreeMemory {
  void operator()(std::byte* memory) const noexcept;
};

using AlignedMemory = std::unique_ptr<std::byte[], FreeMemory>;

// Throws std::bad_alloc.
AlignedMemory allocate_aligned(std::size_t bytes);

}  // namespace quire
