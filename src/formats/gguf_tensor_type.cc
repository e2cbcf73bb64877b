// SPDX-License-Identifier: Apache-2.0
#include "formats/gguf_tensor_type.h"

#include <algorithm>

#include "formats/block.h"

namespace quire {

namespace {

constexpr GgufTensorType kTypes[] = {
    {0, "F32", BlockType::kF32},
    {1, "F16", BlockType::kF16},
    {2, "Q4_0", BlockType::kQ4_0},
    {3, "Q4_1", BlockType::kQ4_1},
    {6, "Q5_0", BlockType::kQ5_0},
    {7, "Q5_1", BlockType::kQ5_1},
    {8, "Q8_0", BlockType::kQ8_0},
    {9, "Q8_1", {}},
    {10, "Q2_K", BlockType::kQ2_K},
    {11, "Q3_K", BlockType::kQ3_K},
    {12, "Q4_K", BlockType::kQ4_K},
    {13, "Q5_K", BlockType::kQ5_K},
    {14, "Q6_K", BlockType::kQ6_K},
    {15, "Q8_K", {}},
    {16, "IQ2_XXS", {}},
    {17, "IQ2_XS", {}},
    {18, "IQ3_XXS", {}},
    {19, "IQ1_S", {}},
    {20, "IQ4_NL", {}},
    {21, "IQ3_S", {}},
    {22, "IQ2_S", {}},
    {23, "IQ4_XS", {}},
    {24, "I8", {}, 1},
    {25, "I16", {}, 2},
    {26, "I32", {}, 4},
    {27, "I64", {}, 8},
    {28, "F64", BlockType::kF64},
    {29, "IQ1_M", {}},
    {30, "BF16", BlockType::kBF16},
    {34, "TQ1_0", {}},
    {35, "TQ2_0", {}},
    {39, "MXFP4", {}},
    {40, "NVFP4", {}},
    {41, "Q1_0", {}},
};

}  // namespace

std::optional<std::int64_t> GgufTensorType::byte_count(std::span<const std::int64_t> shape) const {
  if (block) return quire::byte_count(*block, shape);
  std::optional<std::int64_t> count = element_count(shape);
  if (count && __builtin_mul_overflow(*count, bytes, &*count)) return std::nullopt;
  return count;
}

const GgufTensorType* find_gguf_tensor_type(std::uint32_t id) {
  const auto* type = std::ranges::find(kTypes, id, &GgufTensorType::id);
  return type == std::end(kTypes) ? nullptr : type;
}

}  // namespace quire
