// SPDX-License-Identifier: Apache-2.0
#include "formats/block.h"

namespace quire {

std::string_view to_string(BlockType type) {
  switch (type) {
    case BlockType::kF32:
      return "F32";
    case BlockType::kF16:
      return "F16";
    case BlockType::kBF16:
      return "BF16";
    case BlockType::kF64:
      return "F64";
    case BlockType::kQ4_0:
      return "Q4_0";
    case BlockType::kQ4_1:
      return "Q4_1";
    case BlockType::kQ5_0:
      return "Q5_0";
    case BlockType::kQ5_1:
      return "Q5_1";
    case BlockType::kQ8_0:
      return "Q8_0";
    case BlockType::kQ2_K:
      return "Q2_K";
    case BlockType::kQ3_K:
      return "Q3_K";
    case BlockType::kQ4_K:
      return "Q4_K";
    case BlockType::kQ5_K:
      return "Q5_K";
    case BlockType::kQ6_K:
      return "Q6_K";
  }
  return "unknown";
}

BlockLayout layout_of(BlockType type) {
  switch (type) {
    case BlockType::kF32:
      return {1, 4};
    case BlockType::kF16:
    case BlockType::kBF16:
      return {1, 2};
    case BlockType::kF64:
      return {1, 8};
    case BlockType::kQ4_0:
      return {32, 18};
    case BlockType::kQ4_1:
      return {32, 20};
    case BlockType::kQ5_0:
      return {32, 22};
    case BlockType::kQ5_1:
      return {32, 24};
    case BlockType::kQ8_0:
      return {32, 34};
    case BlockType::kQ2_K:
      return {256, 84};
    case BlockType::kQ3_K:
      return {256, 110};
    case BlockType::kQ4_K:
      return {256, 144};
    case BlockType::kQ5_K:
      return {256, 176};
    case BlockType::kQ6_K:
      return {256, 210};
  }
  return {1, 0};
}

std::optional<std::int64_t> element_count(std::span<const std::int64_t> shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) {
    if (size < 0 || __builtin_mul_overflow(count, size, &count)) return std::nullopt;
  }
  return count;
}

std::optional<std::int64_t> byte_count(BlockType type, std::span<const std::int64_t> shape) {
  const BlockLayout layout = layout_of(type);
  const std::int64_t row = shape.empty() ? 1 : shape.back();
  std::optional<std::int64_t> bytes = element_count(shape);
  if (!bytes || row % layout.elements != 0) return std::nullopt;
  if (__builtin_mul_overflow(*bytes / layout.elements, layout.bytes, &*bytes)) return std::nullopt;
  return bytes;
}

std::string to_string(std::span<const std::int64_t> shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + ']';
}

}  // namespace quire
