// SPDX-License-Identifier: Apache-2.0
#include "formats/dequantize.h"

#include <quire/error.h>

#include <bit>
#include <cstring>
#include <string>

#include "formats/block.h"
#include "formats/block_codes.h"
#include "formats/half.h"

namespace quire {

namespace {

static_assert(std::endian::native == std::endian::little, "elements are read as they lie in files");

using Bytes = const std::uint8_t*;

template <typename T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

void decode_f32(Bytes at, float* out) { *out = load<float>(at); }
void decode_f64(Bytes at, float* out) { *out = static_cast<float>(load<double>(at)); }
void decode_f16(Bytes at, float* out) { *out = float_of_half(load<std::uint16_t>(at)); }
void decode_bf16(Bytes at, float* out) { *out = float_of_bfloat16(load<std::uint16_t>(at)); }

// The formulas of block_codes.h.
template <BlockType kType>
void decode_codes(Bytes block, float* out) {
  constexpr bool kGrouped = kType >= BlockType::kQ2_K;
  constexpr bool kSixteens =
      kType == BlockType::kQ2_K || kType == BlockType::kQ3_K || kType == BlockType::kQ6_K;
  constexpr int kOffset = kType == BlockType::kQ4_0   ? 8
                          : kType == BlockType::kQ5_0 ? 16
                          : kType == BlockType::kQ3_K ? 4
                          : kType == BlockType::kQ6_K ? 32
                                                      : 0;
  BlockCodes codes;
  take_apart(kType, reinterpret_cast<const std::byte*>(block), codes);
  const float d = float_of_half(codes.d);
  const float m = float_of_half(codes.m);
  for (std::size_t i = 0; i < (kGrouped ? 256 : 32); ++i) {
    const std::size_t group = i / (kSixteens ? 16 : 32);
    const int code = kType == BlockType::kQ8_0 ? static_cast<std::int8_t>(codes.codes[i])
                                               : codes.codes[i] - kOffset;
    if constexpr (kGrouped) {
      const float value = d * static_cast<float>(codes.scales[group]) * static_cast<float>(code);
      out[i] = kOffset != 0 ? value : value - m * static_cast<float>(codes.mins[group]);
    } else {
      const bool has_min = kType == BlockType::kQ4_1 || kType == BlockType::kQ5_1;
      out[i] = has_min ? d * static_cast<float>(code) + m : d * static_cast<float>(code);
    }
  }
}

template <auto kDecode>
void decode_all(BlockLayout layout, Bytes data, std::int64_t elements, float* out) {
  for (std::int64_t i = 0; i < elements; i += layout.elements) {
    kDecode(data, out + i);
    data += layout.bytes;
  }
}

}  // namespace

void dequantize(BlockType type, const std::byte* data, std::int64_t elements, float* out) {
  const auto* bytes = reinterpret_cast<Bytes>(data);
  const BlockLayout layout = layout_of(type);
  switch (type) {
    case BlockType::kF32:
      return decode_all<decode_f32>(layout, bytes, elements, out);
    case BlockType::kF16:
      return decode_all<decode_f16>(layout, bytes, elements, out);
    case BlockType::kBF16:
      return decode_all<decode_bf16>(layout, bytes, elements, out);
    case BlockType::kF64:
      return decode_all<decode_f64>(layout, bytes, elements, out);
    case BlockType::kQ4_0:
      return decode_all<decode_codes<BlockType::kQ4_0>>(layout, bytes, elements, out);
    case BlockType::kQ4_1:
      return decode_all<decode_codes<BlockType::kQ4_1>>(layout, bytes, elements, out);
    case BlockType::kQ5_0:
      return decode_all<decode_codes<BlockType::kQ5_0>>(layout, bytes, elements, out);
    case BlockType::kQ5_1:
      return decode_all<decode_codes<BlockType::kQ5_1>>(layout, bytes, elements, out);
    case BlockType::kQ8_0:
      return decode_all<decode_codes<BlockType::kQ8_0>>(layout, bytes, elements, out);
    case BlockType::kQ2_K:
      return decode_all<decode_codes<BlockType::kQ2_K>>(layout, bytes, elements, out);
    case BlockType::kQ3_K:
      return decode_all<decode_codes<BlockType::kQ3_K>>(layout, bytes, elements, out);
    case BlockType::kQ4_K:
      return decode_all<decode_codes<BlockType::kQ4_K>>(layout, bytes, elements, out);
    case BlockType::kQ5_K:
      return decode_all<decode_codes<BlockType::kQ5_K>>(layout, bytes, elements, out);
    case BlockType::kQ6_K:
      return decode_all<decode_codes<BlockType::kQ6_K>>(layout, bytes, elements, out);
  }
}

void dequantize_rows(const TensorInfo& tensor, std::int64_t first, std::int64_t count,
                     std::span<float> out) {
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  const std::int64_t rows = row == 0 ? 0 : element_count(tensor.shape).value_or(0) / row;
  if (first < 0 || count < 0 || count > rows || first > rows - count ||
      out.size() != static_cast<std::size_t>(count * row)) {
    throw Error(ErrorCode::kInvalidArgument, tensor.name,
                "expected some of its " + std::to_string(rows) + " rows of " + std::to_string(row) +
                    " weights, found " + std::to_string(count) + " rows from " +
                    std::to_string(first) + " into " + std::to_string(out.size()));
  }
  const BlockLayout layout = layout_of(tensor.type);
  const std::int64_t row_bytes = row / layout.elements * layout.bytes;
  dequantize(tensor.type, tensor.data.data() + first * row_bytes, count * row, out.data());
}

}  // namespace quire
