// SPDX-License-Identifier: Apache-2.0
// How the quantised kernels read units and records (quantised_format.h), included by
// quantised_impl.h after simd_<isa>.h, simd.h and dot_<isa>.h.
#pragma once

#include <cstdint>

#include "kernels/quantised_format.h"

namespace quire {
namespace {

constexpr int kVecs = kPanelOutputs / kLanes;
constexpr int kVecBytes = 4 * kLanes;
constexpr int kCodeVectors = 8;      // of a unit,
constexpr int kVectorBytes = 64;     // each of all a panel's outputs
constexpr std::int64_t kDepth = 32;  // units; a multiple of every block's

using Halfwords = std::uint16_t __attribute__((vector_size(4 * kLanes)));

inline Bytes load_codes(const std::byte* p) {
  Bytes codes;
  std::memcpy(&codes, p, sizeof(codes));
  return codes;
}

// Four activations in every lane.
inline IntVec broadcast_four(const std::byte* x) {
  std::int32_t four;
  std::memcpy(&four, x, sizeof(four));
  return IntVec{} + four;
}

inline float load_scalar(const std::byte* p) {
  float value;
  std::memcpy(&value, p, sizeof(value));
  return value;
}

inline Vec to_float(IntVec v) { return __builtin_convertvector(v, Vec); }

// Bits [from, from + width) of every byte, moved to bit `to`.
[[gnu::always_inline]] inline Bytes field(Bytes bytes, int from, int to, int width) {
  auto words = reinterpret_cast<Halfwords>(bytes);
  if (from > to) words >>= from - to;
  if (from < to) words <<= to - from;
  const auto mask = static_cast<std::uint8_t>(((1 << width) - 1) << to);
  return reinterpret_cast<Bytes>(words) & mask;
}

// Code vector j of a unit, of the outputs in one register; see quantised_format.h.
template <int kBits>
[[gnu::always_inline]] inline Bytes code_vector(const std::byte* codes, int j) {
  if constexpr (kBits == 8) return load_codes(codes + j * kVectorBytes);
  Bytes value{};
  int low = 0;
  if constexpr (kBits >= 4) {
    value = field(load_codes(codes + j % 4 * kVectorBytes), j / 4 * 4, 0, 4);
    codes += 4 * kVectorBytes;
    low = 4;
  }
  if constexpr (kBits % 4 >= 2) {
    value |= field(load_codes(codes + j % 2 * kVectorBytes), j / 2 * 2, low, 2);
    codes += 2 * kVectorBytes;
    low += 2;
  }
  if constexpr (kBits % 2 == 1) value |= field(load_codes(codes), j, low, 1);
  return value;
}

constexpr bool is_corrected(QuantisedFormat format) {
  return format.offset != 0 || (format.bits == 8 && kSignedOffset != 0);
}

// The scales and mins of a unit's groups for the outputs of register v.
template <BlockType kType>
struct UnitScales {
  static constexpr QuantisedFormat kFormat = quantised_format(kType);

  // What the groups of a block share.
  struct Head {
    Vec d, m;
  };

  static Head head(const std::byte* block, int v) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(block) + v * kLanes;
    return {load_f16(halves), kFormat.has_min ? load_f16(halves + kPanelOutputs) : Vec{}};
  }

  static Vec scale(const Head& head, const std::byte* unit, int g, int v) {
    if constexpr (!kFormat.grouped()) return head.d;
    const IntVec bytes = at(unit, g, v);
    return head.d * to_float((bytes ^ 128) - 128);  // signed
  }

  static Vec min(const Head& head, const std::byte* unit, int g, int v) {
    if constexpr (!kFormat.grouped()) return head.m;
    return head.m * -to_float(at(unit, kFormat.groups + g, v));
  }

 private:
  static IntVec at(const std::byte* unit, int array, int v) {
    return load_u8(reinterpret_cast<const std::uint8_t*>(unit) + kFormat.code_bytes() +
                   array * kPanelOutputs + v * kLanes);
  }
};

// Where a record of kRows rows has what belongs to a row and group.
template <int kRows, int kGroups>
struct Record {
  static constexpr std::int64_t kBytes = record_bytes(kRows, kGroups);
  static const std::byte* codes(const std::byte* record, int r) { return record + r * kUnit; }
  static float scale(const std::byte* record, int r, int g) {
    return load_scalar(record + kRows * kUnit + (r * kGroups + g) * 4);
  }
  static float scaled_sum(const std::byte* record, int r, int g) {
    return load_scalar(record + kRows * (kUnit + 4 * kGroups) + (r * kGroups + g) * 4);
  }
  static IntVec correction(const std::byte* record, int r, int g) {
    return broadcast_four(record + kRows * (kUnit + 8 * kGroups) + (r * kGroups + g) * 4);
  }
};

}  // namespace
}  // namespace quire
