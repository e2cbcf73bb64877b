// SPDX-License-Identifier: Apache-2.0
// Rows of activations made records (quantised_format.h), included by quantised_impl.h after
// quantised_unit.h.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "kernels/quantised_kernels.h"

namespace quire {
namespace {

// All lanes combined by `op`, in halves: what every lane then holds.
template <typename V, typename Op, std::size_t... kLane>
[[gnu::always_inline]] inline auto over_lanes(V v, const Op& op, std::index_sequence<kLane...>) {
  if constexpr (kLanes > 8) v = op(v, __builtin_shufflevector(v, v, (kLane ^ 8)...));
  if constexpr (kLanes > 4) v = op(v, __builtin_shufflevector(v, v, (kLane ^ 4)...));
  v = op(v, __builtin_shufflevector(v, v, (kLane ^ 2)...));
  v = op(v, __builtin_shufflevector(v, v, (kLane ^ 1)...));
  return v[0];
}

template <std::size_t... kLane>
[[gnu::always_inline]] inline auto low_bytes(IntVec v, std::index_sequence<kLane...>) {
  const auto bytes = reinterpret_cast<Bytes>(v);
  return __builtin_shufflevector(bytes, bytes, (4 * kLane)...);
}

// A group's codes, scale, scaled sum and correction. Rounding to integers, ties to even, is left to
// an addition; NaN and infinity make the scale NaN. Magnitudes are compared by their bits, of which
// a NaN has the largest.
template <int kCount>
void quantise_group(const float* x, int offset, std::byte* codes, float* scale, float* scaled_sum,
                    std::int32_t* correction) {
  constexpr float kRound = 0x1.8p23F;
  constexpr std::int32_t kRoundBits = 0x4b400000;
  constexpr auto kAll = std::make_index_sequence<kLanes>();
  using UnsignedVec = std::uint32_t __attribute__((vector_size(4 * kLanes)));
  const auto larger = [](IntVec a, IntVec b) { return a < b ? b : a; };
  IntVec most{};
  for (int i = 0; i < kCount; i += kLanes) most = larger(most, as_int(abs(load(x + i))));
  const auto peak = std::bit_cast<float>(over_lanes(most, larger, kAll));
  const float inverse = peak < 0x1p-100F ? 0 : 127 / peak;
  UnsignedVec sums{};  // wrap around where x is not finite
  for (int i = 0; i < kCount; i += kLanes) {
    const IntVec rounded = as_int(load(x + i) * inverse + kRound) - kRoundBits;
    const auto narrow = low_bytes(rounded, kAll);
    std::memcpy(codes + i, &narrow, sizeof(narrow));
    sums += reinterpret_cast<UnsignedVec>(rounded);
  }
  const auto plus = [](UnsignedVec a, UnsignedVec b) { return a + b; };
  const std::uint32_t sum = over_lanes(sums, plus, kAll);
  *scale = peak / 127 + (peak - peak);
  *scaled_sum = *scale * static_cast<float>(static_cast<std::int32_t>(sum));
  *correction = static_cast<std::int32_t>(static_cast<std::uint32_t>(-offset) * sum);
}

template <int kGroups>
void quantise_unit(const float* x, int offset, std::byte* record, int r, int height) {
  float scales[kGroups];
  float scaled_sums[kGroups];
  std::int32_t corrections[kGroups];
  for (int g = 0; g < kGroups; ++g) {
    constexpr int kCount = kUnit / kGroups;
    quantise_group<kCount>(x + g * kCount, offset, record + r * kUnit + g * kCount, &scales[g],
                           &scaled_sums[g], &corrections[g]);
  }
  std::byte* place = record + height * kUnit + r * kGroups * 4;
  std::memcpy(place, scales, sizeof(scales));
  std::memcpy(place + height * kGroups * 4, scaled_sums, sizeof(scaled_sums));
  std::memcpy(place + height * kGroups * 8, corrections, sizeof(corrections));
}

template <int kGroups>
void quantise(const float* x, std::int64_t ldx, int offset, const QuantisedTiles& tiles,
              std::int64_t tile_first, std::int64_t tile_last) {
  constexpr std::int64_t kRowBytes = Record<1, kGroups>::kBytes;
  for (std::int64_t t = tile_first; t < tile_last; ++t) {
    const int height = t == tiles.tiles - 1 ? tiles.last_height : kQuantisedTile;
    const std::int64_t row = t * kQuantisedTile;
    const std::int64_t rows = tiles.m - row < height ? tiles.m - row : height;
    std::byte* record = tiles.records + row * tiles.units * kRowBytes;
    for (std::int64_t u = 0; u < tiles.units; ++u, record += height * kRowBytes) {
      if (rows < height) std::memset(record, 0, static_cast<std::size_t>(height * kRowBytes));
      for (int r = 0; r < rows; ++r) {
        quantise_unit<kGroups>(x + (row + r) * ldx + u * kUnit, offset, record, r, height);
      }
    }
  }
}

}  // namespace
}  // namespace quire
