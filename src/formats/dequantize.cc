// SPDX-License-Identifier: Apache-2.0
#include "formats/dequantize.h"

#include <quire/error.h>

#include <bit>
#include <cstring>
#include <string>

#include "formats/block.h"
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

float load_half(Bytes at) { return float_of_half(load<std::uint16_t>(at)); }

void decode_f32(Bytes at, float* out) { *out = load<float>(at); }
void decode_f64(Bytes at, float* out) { *out = static_cast<float>(load<double>(at)); }
void decode_f16(Bytes at, float* out) { *out = load_half(at); }
void decode_bf16(Bytes at, float* out) { *out = float_of_bfloat16(load<std::uint16_t>(at)); }

void decode_q4_0(Bytes block, float* out) {
  const float d = load_half(block);
  const Bytes nibbles = block + 2;
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>((nibbles[j] & 15) - 8);
    out[j + 16] = d * static_cast<float>((nibbles[j] >> 4) - 8);
  }
}

void decode_q4_1(Bytes block, float* out) {
  const float d = load_half(block);
  const float m = load_half(block + 2);
  const Bytes nibbles = block + 4;
  for (int j = 0; j < 16; ++j) {
    out[j] = d * static_cast<float>(nibbles[j] & 15) + m;
    out[j + 16] = d * static_cast<float>(nibbles[j] >> 4) + m;
  }
}

// The five-bit number j of a Q5_0 or Q5_1 block.
int five_bits(Bytes nibbles, std::uint32_t fifth, int j) {
  const int low = j < 16 ? nibbles[j] & 15 : nibbles[j - 16] >> 4;
  return low | static_cast<int>((fifth >> j & 1u) << 4);
}

void decode_q5_0(Bytes block, float* out) {
  const float d = load_half(block);
  const auto fifth = load<std::uint32_t>(block + 2);
  for (int j = 0; j < 32; ++j) {
    out[j] = d * static_cast<float>(five_bits(block + 6, fifth, j) - 16);
  }
}

void decode_q5_1(Bytes block, float* out) {
  const float d = load_half(block);
  const float m = load_half(block + 2);
  const auto fifth = load<std::uint32_t>(block + 4);
  for (int j = 0; j < 32; ++j) {
    out[j] = d * static_cast<float>(five_bits(block + 8, fifth, j)) + m;
  }
}

void decode_q8_0(Bytes block, float* out) {
  const float d = load_half(block);
  for (int j = 0; j < 32; ++j) out[j] = d * static_cast<float>(load<std::int8_t>(block + 2 + j));
}

void decode_q2_k(Bytes block, float* out) {
  const Bytes scales = block;
  const Bytes codes = block + 16;
  const float d = load_half(block + 80);
  const float dmin = load_half(block + 82);
  for (int group = 0; group < 16; ++group) {
    const float scale = d * static_cast<float>(scales[group] & 15);
    const float min = dmin * static_cast<float>(scales[group] >> 4);
    const int run = group / 2;  // of 32 weights
    const Bytes packed = codes + run / 4 * 32 + group % 2 * 16;
    for (int j = 0; j < 16; ++j) {
      out[group * 16 + j] = scale * static_cast<float>(packed[j] >> run % 4 * 2 & 3) - min;
    }
  }
}

// Scale i of the sixteen in a Q3_K block: four low bits in bytes 0 to 7, two high ones in 8 to 11.
int q3_k_scale(Bytes packed, int i) {
  const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
  const int high = packed[8 + i % 4] >> i / 4 * 2 & 3;
  return (low | high << 4) - 32;
}

void decode_q3_k(Bytes block, float* out) {
  const Bytes third = block;
  const Bytes codes = block + 32;
  const Bytes scales = block + 96;
  const float d = load_half(block + 108);
  for (int group = 0; group < 16; ++group) {
    const float scale = d * static_cast<float>(q3_k_scale(scales, group));
    const int run = group / 2;
    const int half = group % 2 * 16;
    const Bytes packed = codes + run / 4 * 32 + half;
    for (int j = 0; j < 16; ++j) {
      const int low = packed[j] >> run % 4 * 2 & 3;
      const int offset = (third[half + j] >> run & 1) != 0 ? 0 : 4;
      out[group * 16 + j] = scale * static_cast<float>(low - offset);
    }
  }
}

// Scale and min i of the eight in a Q4_K or Q5_K block. The first four are six bits of bytes 0 to 3
// and 4 to 7; the last four have their low bits in bytes 8 to 11 and their high bits above those.
struct ScaleMin {
  int scale;
  int min;
};

ScaleMin scale_min(Bytes packed, int i) {
  if (i < 4) return {packed[i] & 63, packed[i + 4] & 63};
  const int low = packed[i + 4];
  return {(low & 15) | (packed[i - 4] >> 6) << 4, low >> 4 | (packed[i] >> 6) << 4};
}

void decode_q4_k(Bytes block, float* out) {
  const float d = load_half(block);
  const float dmin = load_half(block + 2);
  for (int group = 0; group < 8; ++group) {
    const ScaleMin packed = scale_min(block + 4, group);
    const float scale = d * static_cast<float>(packed.scale);
    const float min = dmin * static_cast<float>(packed.min);
    const Bytes nibbles = block + 16 + group / 2 * 32;
    for (int j = 0; j < 32; ++j) {
      out[group * 32 + j] = scale * static_cast<float>(nibbles[j] >> group % 2 * 4 & 15) - min;
    }
  }
}

void decode_q5_k(Bytes block, float* out) {
  const float d = load_half(block);
  const float dmin = load_half(block + 2);
  const Bytes fifth = block + 16;
  for (int group = 0; group < 8; ++group) {
    const ScaleMin packed = scale_min(block + 4, group);
    const float scale = d * static_cast<float>(packed.scale);
    const float min = dmin * static_cast<float>(packed.min);
    const Bytes nibbles = block + 48 + group / 2 * 32;
    for (int j = 0; j < 32; ++j) {
      const int code = (nibbles[j] >> group % 2 * 4 & 15) | (fifth[j] >> group & 1) << 4;
      out[group * 32 + j] = scale * static_cast<float>(code) - min;
    }
  }
}

void decode_q6_k(Bytes block, float* out) {
  const Bytes scales = block + 192;
  const float d = load_half(block + 208);
  for (int run = 0; run < 8; ++run) {  // of 32 weights; four to each half of the block
    const Bytes low = block + run / 4 * 64 + run % 2 * 32;
    const Bytes high = block + 128 + run / 4 * 32;
    const int low_shift = run % 4 / 2 * 4;
    const int high_shift = run % 4 * 2;
    for (int j = 0; j < 32; ++j) {
      const float scale = d * static_cast<float>(load<std::int8_t>(scales + run * 2 + j / 16));
      const int code = (low[j] >> low_shift & 15) | (high[j] >> high_shift & 3) << 4;
      out[run * 32 + j] = scale * static_cast<float>(code - 32);
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
      return decode_all<decode_q4_0>(layout, bytes, elements, out);
    case BlockType::kQ4_1:
      return decode_all<decode_q4_1>(layout, bytes, elements, out);
    case BlockType::kQ5_0:
      return decode_all<decode_q5_0>(layout, bytes, elements, out);
    case BlockType::kQ5_1:
      return decode_all<decode_q5_1>(layout, bytes, elements, out);
    case BlockType::kQ8_0:
      return decode_all<decode_q8_0>(layout, bytes, elements, out);
    case BlockType::kQ2_K:
      return decode_all<decode_q2_k>(layout, bytes, elements, out);
    case BlockType::kQ3_K:
      return decode_all<decode_q3_k>(layout, bytes, elements, out);
    case BlockType::kQ4_K:
      return decode_all<decode_q4_k>(layout, bytes, elements, out);
    case BlockType::kQ5_K:
      return decode_all<decode_q5_k>(layout, bytes, elements, out);
    case BlockType::kQ6_K:
      return decode_all<decode_q6_k>(layout, bytes, elements, out);
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
