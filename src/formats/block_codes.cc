// SPDX-License-Identifier: Apache-2.0
#include "formats/block_codes.h"

#include <cstring>

namespace quire {

namespace {

using Bytes = const std::uint8_t*;

template <typename T>
T load(Bytes at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

std::uint8_t byte(int value) { return static_cast<std::uint8_t>(value); }

// 32 codes of four bits: the low halves of 16 bytes, then the high ones.
void take_nibbles(Bytes nibbles, std::uint8_t* codes) {
  for (int j = 0; j < 16; ++j) {
    codes[j] = nibbles[j] & 15;
    codes[j + 16] = nibbles[j] >> 4;
  }
}

void add_fifth_bits(std::uint32_t fifth, std::uint8_t* codes) {
  for (int j = 0; j < 32; ++j) codes[j] |= byte(static_cast<int>((fifth >> j & 1u) << 4));
}

void take_q4(Bytes block, bool has_min, BlockCodes& out) {
  out.d = load<std::uint16_t>(block);
  out.m = has_min ? load<std::uint16_t>(block + 2) : 0;
  take_nibbles(block + (has_min ? 4 : 2), out.codes.data());
}

void take_q5(Bytes block, bool has_min, BlockCodes& out) {
  const Bytes rest = block + (has_min ? 4 : 2);
  out.d = load<std::uint16_t>(block);
  out.m = has_min ? load<std::uint16_t>(block + 2) : 0;
  take_nibbles(rest + 4, out.codes.data());
  add_fifth_bits(load<std::uint32_t>(rest), out.codes.data());
}

void take_q8_0(Bytes block, BlockCodes& out) {
  out.d = load<std::uint16_t>(block);
  out.m = 0;
  std::memcpy(out.codes.data(), block + 2, 32);
}

// 256 codes of two bits: four runs of 32 to each 32 bytes.
void take_pairs(Bytes packed, std::uint8_t* codes) {
  for (int i = 0; i < 256; ++i) {
    codes[i] = packed[i / 128 * 32 + i % 32] >> i / 32 % 4 * 2 & 3;
  }
}

void take_q2_k(Bytes block, BlockCodes& out) {
  out.d = load<std::uint16_t>(block + 80);
  out.m = load<std::uint16_t>(block + 82);
  for (std::size_t i = 0; i < 16; ++i) {
    out.scales[i] = static_cast<std::int8_t>(block[i] & 15);
    out.mins[i] = block[i] >> 4;
  }
  take_pairs(block + 16, out.codes.data());
}

// Scale i of the sixteen in a Q3_K block: four low bits in bytes 0 to 7, two high ones in 8 to 11.
int q3_k_scale(Bytes packed, int i) {
  const int low = i < 8 ? packed[i] & 15 : packed[i - 8] >> 4;
  const int high = packed[8 + i % 4] >> i / 4 * 2 & 3;
  return (low | high << 4) - 32;
}

void take_q3_k(Bytes block, BlockCodes& out) {
  out.d = load<std::uint16_t>(block + 108);
  out.m = 0;
  for (int i = 0; i < 16; ++i) {
    out.scales[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(q3_k_scale(block + 96, i));
  }
  take_pairs(block + 32, out.codes.data());
  for (int i = 0; i < 256; ++i) {  // third bits: bit r of a byte belongs to run r of 32
    out.codes[static_cast<std::size_t>(i)] |= byte((block[i % 32] >> i / 32 & 1) << 2);
  }
}

// Scale and min i of the eight in a Q4_K or Q5_K block. The first four are six bits of bytes 0 to 3
// and 4 to 7; the last four have their low bits in bytes 8 to 11 and their high bits above those.
void take_scales_and_mins(Bytes packed, BlockCodes& out) {
  for (std::size_t i = 0; i < 4; ++i) {
    out.scales[i] = static_cast<std::int8_t>(packed[i] & 63);
    out.mins[i] = packed[i + 4] & 63;
    out.scales[i + 4] = static_cast<std::int8_t>((packed[i + 8] & 15) | packed[i] >> 6 << 4);
    out.mins[i + 4] = byte(packed[i + 8] >> 4 | packed[i + 4] >> 6 << 4);
  }
}

void take_q4_or_q5_k(Bytes block, bool has_fifth, BlockCodes& out) {
  out.d = load<std::uint16_t>(block);
  out.m = load<std::uint16_t>(block + 2);
  take_scales_and_mins(block + 4, out);
  const Bytes fifth = block + 16;
  const Bytes nibbles = block + (has_fifth ? 48 : 16);
  for (int group = 0; group < 8; ++group) {
    std::uint8_t* codes = out.codes.data() + group * 32;
    for (int j = 0; j < 32; ++j) {
      codes[j] = nibbles[group / 2 * 32 + j] >> group % 2 * 4 & 15;
      if (has_fifth) codes[j] |= byte((fifth[j] >> group & 1) << 4);
    }
  }
}

void take_q6_k(Bytes block, BlockCodes& out) {
  out.d = load<std::uint16_t>(block + 208);
  out.m = 0;
  std::memcpy(out.scales.data(), block + 192, 16);
  for (int run = 0; run < 8; ++run) {  // of 32 weights; four to each half of the block
    const Bytes low = block + run / 4 * 64 + run % 2 * 32;
    const Bytes high = block + 128 + run / 4 * 32;
    const int low_shift = run % 4 / 2 * 4;
    const int high_shift = run % 4 * 2;
    std::uint8_t* codes = out.codes.data() + run * 32;
    for (int j = 0; j < 32; ++j) {
      codes[j] = byte((low[j] >> low_shift & 15) | (high[j] >> high_shift & 3) << 4);
    }
  }
}

}  // namespace

bool is_quantised(BlockType type) { return type >= BlockType::kQ4_0; }

void take_apart(BlockType type, const std::byte* data, BlockCodes& out) {
  const auto* block = reinterpret_cast<Bytes>(data);
  switch (type) {
    case BlockType::kF32:
    case BlockType::kF16:
    case BlockType::kBF16:
    case BlockType::kF64:
      return;
    case BlockType::kQ4_0:
      return take_q4(block, false, out);
    case BlockType::kQ4_1:
      return take_q4(block, true, out);
    case BlockType::kQ5_0:
      return take_q5(block, false, out);
    case BlockType::kQ5_1:
      return take_q5(block, true, out);
    case BlockType::kQ8_0:
      return take_q8_0(block, out);
    case BlockType::kQ2_K:
      return take_q2_k(block, out);
    case BlockType::kQ3_K:
      return take_q3_k(block, out);
    case BlockType::kQ4_K:
      return take_q4_or_q5_k(block, false, out);
    case BlockType::kQ5_K:
      return take_q4_or_q5_k(block, true, out);
    case BlockType::kQ6_K:
      return take_q6_k(block, out);
  }
}

}  // namespace quire
