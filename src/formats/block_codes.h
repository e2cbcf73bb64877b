// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace quire {

// A block of quantised weights taken apart: nothing is computed, so nothing is rounded. With
// group = i / (16 or 32), the weight i of a block is
//
//   types of 32     d (code[i] - offset) + m
//   K types         (d scale[group]) (code[i] - offset) - m min[group]
//
// where the offset is 8 for Q4_0, 16 for Q5_0, 4 for Q3_K, 32 for Q6_K and 0 for all others.
struct BlockCodes {
  std::uint16_t d = 0;                    // binary16
  std::uint16_t m = 0;                    // binary16; dmin of the K types; 0 where a type has none
  std::array<std::uint8_t, 256> codes{};  // of Q8_0: signed bytes
  std::array<std::int8_t, 16> scales{};   // K types only
  std::array<std::uint8_t, 16> mins{};    // Q2_K, Q4_K, Q5_K only
};

// Whether weights are codes in blocks, not numbers.
bool is_quantised(BlockType type);

// REQUIRES: is_quantised(type); `block` holds a block (at any address). The byte layouts are
// described in dequantize.h.
void take_apart(BlockType type, const std::byte* block, BlockCodes& out);

}  // namespace quire
