// SPDX-License-Identifier: Apache-2.0
// How quantised weights lie in memory for the kernels, and the activations that they meet.
//
// Weights. A panel is 16 outputs; its blocks follow each other along the inputs, panels follow each
// other, and the last is filled up with zeros. A block is 32 inputs, or 256 of the K types:
//
//   head   d: 16 halves, an output each; m: 16 halves more, if the type has a minimum
//   units  of 32 inputs: codes, then for K types scales (16 signed bytes for each group) and, if
//          the type has a minimum, mins (likewise, unsigned)
//
// Code vector j (0 to 7) is 64 bytes: four inputs, 4j to 4j + 3, of each of the 16 outputs. Bytes
// are kept as they are; narrower codes as planes, each of 64-byte vectors in which byte i belongs
// to byte i of several code vectors:
//
//   nibbles  4 vectors: of vector i, the low halves are bits 0-3 of code vector i, the high ones
//            of i + 4                                                    (codes of 4, 5, 6 bits)
//   pairs    2 vectors: of vector i, bits 2s, 2s + 1 are the next two bits of code vector i + 2s
//                                                                        (codes of 2, 3, 6 bits)
//   bits     1 vector: bit s is the last bit of code vector s            (codes of 3, 5 bits)
//
// So a 32-bit lane belongs to one output, and neither unpacking nor summing crosses lanes.
//
// Activations. Rows of x are quantised in groups of 32, or of 16 where the weights are: with
// s = max |x| / 127, code = round(x / s). Rows are cut into tiles; a tile has for each unit one
// record: codes [row][32], then floats s and s * (sum of codes), then the integer
// -offset * (sum of codes), each [row][group].
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>

namespace quire {

constexpr int kUnit = 32;
constexpr int kPanelOutputs = 16;

struct QuantisedFormat {
  int bits;      // of a code; 8: signed
  int offset;    // that codes have added
  int groups;    // with a scale of their own in a unit: 1 or 2
  int units;     // in a block: 1, or 8 of the K types
  bool has_min;  // that is added to weights

  constexpr bool grouped() const { return units > 1; }
  constexpr std::int64_t head_bytes() const { return 2 * kPanelOutputs * (has_min ? 2 : 1); }
  constexpr std::int64_t code_bytes() const { return kPanelOutputs * kUnit / 8 * bits; }
  constexpr std::int64_t unit_bytes() const {
    return code_bytes() + (grouped() ? kPanelOutputs * groups * (has_min ? 2 : 1) : 0);
  }
  constexpr std::int64_t block_bytes() const { return head_bytes() + units * unit_bytes(); }
  constexpr std::int64_t block_inputs() const { return units * kUnit; }
};

// REQUIRES: a quantised type.
constexpr QuantisedFormat quantised_format(BlockType type) {
  switch (type) {
    case BlockType::kQ4_0:
      return {.bits = 4, .offset = 8, .groups = 1, .units = 1, .has_min = false};
    case BlockType::kQ4_1:
      return {.bits = 4, .offset = 0, .groups = 1, .units = 1, .has_min = true};
    case BlockType::kQ5_0:
      return {.bits = 5, .offset = 16, .groups = 1, .units = 1, .has_min = false};
    case BlockType::kQ5_1:
      return {.bits = 5, .offset = 0, .groups = 1, .units = 1, .has_min = true};
    case BlockType::kQ2_K:
      return {.bits = 2, .offset = 0, .groups = 2, .units = 8, .has_min = true};
    case BlockType::kQ3_K:
      return {.bits = 3, .offset = 4, .groups = 2, .units = 8, .has_min = false};
    case BlockType::kQ4_K:
      return {.bits = 4, .offset = 0, .groups = 1, .units = 8, .has_min = true};
    case BlockType::kQ5_K:
      return {.bits = 5, .offset = 0, .groups = 1, .units = 8, .has_min = true};
    case BlockType::kQ6_K:
      return {.bits = 6, .offset = 32, .groups = 2, .units = 8, .has_min = false};
    case BlockType::kQ8_0:
    case BlockType::kF32:
    case BlockType::kF16:
    case BlockType::kBF16:
    case BlockType::kF64:
      break;
  }
  return {.bits = 8, .offset = 0, .groups = 1, .units = 1, .has_min = false};
}

// Bytes of the record of a tile of `rows` rows.
constexpr std::int64_t record_bytes(int rows, int groups) {
  return static_cast<std::int64_t>(rows) * (kUnit + 12 * groups);
}

}  // namespace quire
