// SPDX-License-Identifier: Apache-2.0
// Rows of activations made records (quantised_format.h), included by quantised_impl.h after
// quantised_unit.h.
#pragma once

#include <cstdint>

#include "kernels/quantised_kernels.h"

namespace quire {
namespace {

// A group's codes, scale, scaled sum and correction. Rounding to integers, ties to even, is left to
// an addition; NaN and infinity make the scale NaN.
template <int kCount>
void quantise_group(const float* x, int offset, std::byte* codes, float* scale, float* scaled_sum,
                    std::int32_t* correction) {
  constexpr float kRound = 0x1.8p23F;
  constexpr std::int32_t kRoundBits = 0x4b400000;
  using Narrow = std::int8_t __attribute__((vector_size(kLanes)));
  Vec most{};
  Vec poison{};
  for (int i = 0; i < kCount; i += kLanes) {
    const Vec values = load(x + i);
    most = most < abs(values) ? abs(values) : most;
    poison += values - values;
  }
  float lanes[kLanes];
  store(lanes, most);
  float peak = 0;
  for (int i = 0; i < kLanes; ++i) peak = lanes[i] > peak ? lanes[i] : peak;
  const float inverse = peak < 0x1p-100F ? 0 : 127 / peak;
  IntVec sums{};
  for (int i = 0; i < kCount; i += kLanes) {
    const IntVec rounded = as_int(load(x + i) * inverse + kRound) - kRoundBits;
    const auto narrow = __builtin_convertvector(rounded, Narrow);
    std::memcpy(codes + i, &narrow, sizeof(narrow));
    sums += rounded;
  }
  std::uint32_t sum = 0;  // wraps around where x is not finite, and the scale with it
  for (int i = 0; i < kLanes; ++i) sum += static_cast<std::uint32_t>(sums[i]);
  *scale = peak / 127 + sum_lanes(poison);
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
