// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace quire {

// How a block type packs weights: `elements` consecutive weights of a row in `bytes` bytes.
struct BlockLayout {
  std::int64_t elements;
  std::int64_t bytes;
};

BlockLayout layout_of(BlockType type);

// The product of the dimensions (1 for none), or nothing when one is negative or it passes 2^63
// - 1.
std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape);

// The bytes that a tensor of this shape takes, or nothing when its rows are no whole blocks or the
// size passes 2^63 - 1.
std::optional<std::int64_t> byte_count(BlockType type, std::span<const std::int64_t> shape);

// "[4, 32]".
std::string to_string(std::span<const std::int64_t> shape);

}  // namespace quire
