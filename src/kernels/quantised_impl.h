// SPDX-License-Identifier: Apache-2.0
// Matrix product with quantised weights, included by quantised_<isa>.cc after simd_<isa>.h, simd.h
// and dot_<isa>.h.
//
// A single row multiplies the codes as they are unpacked. Of more rows, a panel's codes are
// unpacked once, kDepth units at a time, to a scratch that stays in the first-level cache while all
// tiles of rows pass by; in between their sums rest in y, which changes no bit of them.
//
// For an output, whichever way, unit after unit and group after group:
//   sum = fused(float(integer sum), scale of the weights * scale of the row, sum)
//   sum = fused(min of the weights, row's scaled sum of codes, sum)            if there is a min
#pragma once

#include <cstdint>

#include "kernels/quantised_format.h"
#include "kernels/quantised_kernels.h"

namespace quire {
namespace {

constexpr int kVecs = kPanelOutputs / kLanes;
constexpr int kVecBytes = 4 * kLanes;
constexpr int kCodeVectors = 8;      // of a unit,
constexpr int kVectorBytes = 64;     // each of all a panel's outputs
constexpr std::int64_t kDepth = 32;  // units; a multiple of every block's

// How far ahead weights are asked for, in bytes. It may run past a panel's end: into the next.
constexpr std::int64_t kAhead = 4096;

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
  return reinterpret_cast<Bytes>(words) & static_cast<std::uint8_t>(((1 << width) - 1) << to);
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

inline void prefetch(const std::byte* p, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(p + kAhead + line);
}

// Adds one unit to the sums of a single row. `x`: its record.
template <BlockType kType>
[[gnu::always_inline]] inline void add_unit(Vec (&sums)[kVecs], const std::byte* unit,
                                            const typename UnitScales<kType>::Head* heads,
                                            const std::byte* x) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  constexpr int kCount = kCodeVectors / kFormat.groups;  // of a group
  constexpr int kMost = partial_products(kFormat.bits);
  constexpr int kChunk = kMost < kCount ? kMost : kCount;
  using X = Record<1, kFormat.groups>;
#pragma GCC unroll 2
  for (int g = 0; g < kFormat.groups; ++g) {
    const Vec row_scale = broadcast(X::scale(x, 0, g));
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      IntVec total{};
      if constexpr (is_corrected(kFormat)) total = X::correction(x, 0, g);
#pragma GCC unroll 8
      for (int c = g * kCount; c < (g + 1) * kCount; c += kChunk) {
        Partial partial{};
#pragma GCC unroll 8
        for (int j = c; j < c + kChunk; ++j) {
          partial = add_products<kFormat.bits == 8>(
              partial, code_vector<kFormat.bits>(unit + v * kVecBytes, j),
              broadcast_four(X::codes(x, 0) + 4 * j));
        }
        total = add_partial(total, partial);
      }
      const Vec scale = UnitScales<kType>::scale(heads[v], unit, g, v) * row_scale;
      sums[v] = fused(to_float(total), scale, sums[v]);
      if constexpr (kFormat.has_min) {
        sums[v] = fused(UnitScales<kType>::min(heads[v], unit, g, v),
                        broadcast(X::scaled_sum(x, 0, g)), sums[v]);
      }
    }
  }
}

template <BlockType kType>
void multiply_row(const QuantisedCall& call, const QuantisedTiles& tiles, std::int64_t panel) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  using Head = typename UnitScales<kType>::Head;
  const std::int64_t output = panel * kPanelOutputs;
  const std::byte* block = call.panels + panel * call.panel_bytes;
  const std::byte* x = tiles.records;
  Vec sums[kVecs];
  for (int v = 0; v < kVecs; ++v) {
    sums[v] = call.bias == nullptr
                  ? Vec{}
                  : load_outputs(call.bias + output + v * kLanes, call.n - output - v * kLanes);
  }
  for (std::int64_t u = 0; u < tiles.units; u += kFormat.units) {
    Head heads[kVecs];
    for (int v = 0; v < kVecs; ++v) heads[v] = UnitScales<kType>::head(block, v);
    const std::byte* unit = block + kFormat.head_bytes();
    for (int i = 0; i < kFormat.units; ++i) {
      prefetch(unit, kFormat.block_bytes() / kFormat.units);
      add_unit<kType>(sums, unit, heads, x);
      unit += kFormat.unit_bytes();
      x += Record<1, kFormat.groups>::kBytes;
    }
    block += kFormat.block_bytes();
  }
  for (int v = 0; v < kVecs; ++v) {
    store_outputs(call.y + output + v * kLanes, sums[v], call.n - output - v * kLanes);
  }
}

// A unit unpacked: the code vectors, then scales and, if there is one, mins of each group's
// outputs.
template <BlockType kType>
struct Unpacked {
  static constexpr QuantisedFormat kFormat = quantised_format(kType);
  static constexpr std::int64_t kScales = kCodeVectors * kVectorBytes;
  static constexpr std::int64_t kMins = kScales + kFormat.groups * kVectorBytes;
  static constexpr std::int64_t kBytes =
      kMins + (kFormat.has_min ? kFormat.groups * kVectorBytes : 0);

  // Unpacks whole blocks.
  static void fill(const std::byte* block, std::int64_t units, std::byte* out) {
    for (std::int64_t u = 0; u < units; u += kFormat.units) {
      const std::byte* unit = block + kFormat.head_bytes();
      for (int i = 0; i < kFormat.units; ++i) {
        prefetch(unit, kFormat.block_bytes() / kFormat.units);
        for (int v = 0; v < kVecs; ++v) {
          fill_unit(unit, UnitScales<kType>::head(block, v), v, out + v * kVecBytes);
        }
        unit += kFormat.unit_bytes();
        out += kBytes;
      }
      block += kFormat.block_bytes();
    }
  }

  static Vec floats(const std::byte* unit, std::int64_t place, int g, int v) {
    return load(reinterpret_cast<const float*>(unit + place + g * kVectorBytes + v * kVecBytes));
  }

 private:
  static void fill_unit(const std::byte* unit, const typename UnitScales<kType>::Head& head, int v,
                        std::byte* out) {
#pragma GCC unroll 8
    for (int j = 0; j < kCodeVectors; ++j) {
      const Bytes codes = code_vector<kFormat.bits>(unit + v * kVecBytes, j);
      std::memcpy(out + j * kVectorBytes, &codes, sizeof(codes));
    }
    for (int g = 0; g < kFormat.groups; ++g) {
      std::byte* place = out + g * kVectorBytes;
      store(reinterpret_cast<float*>(place + kScales), UnitScales<kType>::scale(head, unit, g, v));
      if constexpr (kFormat.has_min) {
        store(reinterpret_cast<float*>(place + kMins), UnitScales<kType>::min(head, unit, g, v));
      }
    }
  }
};

// Adds one unpacked unit to the sums of a tile's rows. `x`: its record.
template <BlockType kType, int kRows>
[[gnu::always_inline]] inline void add_unpacked(Vec (&sums)[kRows][kVecs], const std::byte* unit,
                                                const std::byte* x) {
  using Unit = Unpacked<kType>;
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  using X = Record<kRows, kFormat.groups>;
  constexpr int kCount = kCodeVectors / kFormat.groups;
  constexpr int kMost = partial_products(kFormat.bits);
  constexpr int kChunk = kMost < kCount ? kMost : kCount;
#pragma GCC unroll 2
  for (int g = 0; g < kFormat.groups; ++g) {
    IntVec totals[kRows][kVecs];
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        totals[r][v] = is_corrected(kFormat) ? X::correction(x, r, g) : IntVec{};
      }
    }
#pragma GCC unroll 8
    for (int c = g * kCount; c < (g + 1) * kCount; c += kChunk) {
      Partial partials[kRows][kVecs] = {};
#pragma GCC unroll 8
      for (int j = c; j < c + kChunk; ++j) {
        Bytes codes[kVecs];
#pragma GCC unroll 4
        for (int v = 0; v < kVecs; ++v)
          codes[v] = load_codes(unit + j * kVectorBytes + v * kVecBytes);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const IntVec four = broadcast_four(X::codes(x, r) + 4 * j);
#pragma GCC unroll 4
          for (int v = 0; v < kVecs; ++v) {
            partials[r][v] = add_products<kFormat.bits == 8>(partials[r][v], codes[v], four);
          }
        }
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
        for (int v = 0; v < kVecs; ++v) {
          totals[r][v] = add_partial(totals[r][v], partials[r][v]);
        }
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
      for (int v = 0; v < kVecs; ++v) {
        const Vec scale = Unit::floats(unit, Unit::kScales, g, v) * broadcast(X::scale(x, r, g));
        sums[r][v] = fused(to_float(totals[r][v]), scale, sums[r][v]);
        if constexpr (kFormat.has_min) {
          sums[r][v] = fused(Unit::floats(unit, Unit::kMins, g, v),
                             broadcast(X::scaled_sum(x, r, g)), sums[r][v]);
        }
      }
    }
  }
}

// A tile's rows and a panel's outputs: `start` is where their sums begin (a row every
// `start_stride`; null: zeros), y where they end. `rows` and `outputs` are those that exist.
struct QuantisedTile {
  const std::byte* units;  // unpacked
  std::int64_t count;
  const std::byte* x;
  const float* start;
  std::int64_t start_stride;
  float* y;
  std::int64_t ldy;
  std::int64_t rows;
  std::int64_t outputs;
};

template <BlockType kType, int kRows>
void multiply_unpacked(const QuantisedTile& tile) {
  Vec sums[kRows][kVecs] = {};
  for (int r = 0; r < kRows && r < tile.rows && tile.start != nullptr; ++r) {
    for (int v = 0; v < kVecs; ++v) {
      sums[r][v] =
          load_outputs(tile.start + r * tile.start_stride + v * kLanes, tile.outputs - v * kLanes);
    }
  }
  const std::byte* unit = tile.units;
  const std::byte* x = tile.x;
  for (std::int64_t u = 0; u < tile.count; ++u) {
    add_unpacked<kType, kRows>(sums, unit, x);
    unit += Unpacked<kType>::kBytes;
    x += Record<kRows, quantised_format(kType).groups>::kBytes;
  }
  for (int r = 0; r < kRows && r < tile.rows; ++r) {
    for (int v = 0; v < kVecs; ++v) {
      store_outputs(tile.y + r * tile.ldy + v * kLanes, sums[r][v], tile.outputs - v * kLanes);
    }
  }
}

// All tiles with the units from `first` on that are unpacked in `scratch`.
template <BlockType kType>
void multiply_tiles(const QuantisedCall& call, const QuantisedTiles& tiles, std::int64_t tile_first,
                    std::int64_t tile_last, std::int64_t panel, std::int64_t first,
                    std::int64_t count, const std::byte* scratch) {
  constexpr int kGroups = quantised_format(kType).groups;
  constexpr std::int64_t kFull = Record<kQuantisedTile, kGroups>::kBytes;
  const std::int64_t output = panel * kPanelOutputs;
  QuantisedTile tile{};
  tile.units = scratch;
  tile.count = count;
  tile.ldy = call.ldy;
  tile.outputs = call.n - output;
  for (std::int64_t t = tile_first; t < tile_last; ++t) {
    const std::int64_t row = t * kQuantisedTile;
    const bool few = t == tiles.tiles - 1 && tiles.last_height == kQuantisedFew;
    tile.rows = tiles.m - row;
    tile.x = tiles.records + t * tiles.units * kFull +
             first * (few ? Record<kQuantisedFew, kGroups>::kBytes : kFull);
    tile.y = call.y + row * call.ldy + output;
    tile.start = tile.y;
    tile.start_stride = call.ldy;
    if (first == 0) {
      tile.start = call.bias == nullptr ? nullptr : call.bias + output;
      tile.start_stride = 0;
    }
    if (few) {
      multiply_unpacked<kType, kQuantisedFew>(tile);
    } else {
      multiply_unpacked<kType, kQuantisedTile>(tile);
    }
  }
}

template <BlockType kType>
void multiply_quantised(const QuantisedCall& call, const QuantisedTiles& tiles,
                        std::int64_t tile_first, std::int64_t tile_last, std::int64_t panel_first,
                        std::int64_t panel_last) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  alignas(kVectorBytes) std::byte scratch[kDepth * Unpacked<kType>::kBytes];
  for (std::int64_t panel = panel_first; panel < panel_last; ++panel) {
    if (tiles.m == 1) {
      multiply_row<kType>(call, tiles, panel);
      continue;
    }
    const std::byte* block = call.panels + panel * call.panel_bytes;
    std::int64_t first = 0;
    do {  // once without inputs, too: the outputs are then the bias
      const std::int64_t left = tiles.units - first;
      const std::int64_t count = left < kDepth ? left : kDepth;
      Unpacked<kType>::fill(block, count, scratch);
      multiply_tiles<kType>(call, tiles, tile_first, tile_last, panel, first, count, scratch);
      block += count / kFormat.units * kFormat.block_bytes();
      first += count;
    } while (first < tiles.units);
  }
}

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
  std::int32_t sum = 0;
  for (int i = 0; i < kLanes; ++i) sum += sums[i];
  *scale = peak / 127 + sum_lanes(poison);
  *scaled_sum = *scale * static_cast<float>(sum);
  *correction = -offset * sum;
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

constexpr QuantisedKernels kQuantised = {
    {multiply_quantised<BlockType::kQ4_0>, multiply_quantised<BlockType::kQ4_1>,
     multiply_quantised<BlockType::kQ5_0>, multiply_quantised<BlockType::kQ5_1>,
     multiply_quantised<BlockType::kQ8_0>, multiply_quantised<BlockType::kQ2_K>,
     multiply_quantised<BlockType::kQ3_K>, multiply_quantised<BlockType::kQ4_K>,
     multiply_quantised<BlockType::kQ5_K>, multiply_quantised<BlockType::kQ6_K>},
    quantise<1>,
    quantise<2>,
    kSignedOffset,
    kQuantisedTile,
    kQuantisedFew};

}  // namespace
}  // namespace quire
