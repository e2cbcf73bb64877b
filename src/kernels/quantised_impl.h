// SPDX-License-Identifier: Apache-2.0
// Matrix product with quantised weights, included by quantised_<isa>.cc after simd_<isa>.h, simd.h
// and dot_<isa>.h.
//
// One row or few multiply the codes as they are unpacked. Of more rows, a panel's codes are
// unpacked once, kDepth units at a time, to a scratch that stays in the first-level cache while all
// tiles of rows pass by; in between their sums rest in y, which changes no bit of them. Meanwhile
// the weights after those are fetched, so that unpacking does not wait for memory.
//
// For an output, whichever way, unit after unit and group after group:
//   sum = fused(float(integer sum), scale of the weights * scale of the row, sum)
//   sum = fused(min of the weights, row's scaled sum of codes, sum)            if there is a min
#pragma once

#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>

// clang-format off
#include "kernels/quantised_kernels.h"
#include "kernels/quantised_unit.h"
#include "kernels/quantised_activations.h"
// clang-format on

namespace quire {
namespace {

// How far ahead weights are asked for, in bytes. It may run past a panel's end: into the next.
constexpr std::int64_t kAhead = 8192;
constexpr std::int64_t kLine = 64;
// Tiles that fetch the weights after those that they multiply: all, if there are no more.
constexpr std::int64_t kFetchingTiles = 4;

inline void prefetch(const std::byte* p, std::int64_t bytes) {
  for (std::int64_t line = 0; line < bytes; line += kLine) __builtin_prefetch(p + kAhead + line);
}

// Of `bytes`, the lines that each of `shares` fetches.
constexpr std::int64_t lines_of(std::int64_t bytes, std::int64_t shares) {
  return (bytes + shares * kLine - 1) / (shares * kLine);
}

// Adds one unit to the sums of a tile's rows, unpacking its codes on the way. `x`: its record.
template <BlockType kType, int kRows>
[[gnu::always_inline]] inline void add_packed(Vec (&sums)[kRows][kVecs], const std::byte* unit,
                                              const typename UnitScales<kType>::Head* heads,
                                              const std::byte* x) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  constexpr int kCount = kCodeVectors / kFormat.groups;  // of a group
  constexpr int kMost = partial_products(kFormat.bits);
  constexpr int kChunk = kMost < kCount ? kMost : kCount;
  constexpr bool kSigned = kFormat.bits == 8;
  using X = Record<kRows, kFormat.groups>;
#pragma GCC unroll 2
  for (int g = 0; g < kFormat.groups; ++g) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      IntVec totals[kRows];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        totals[r] = is_corrected(kFormat) ? X::correction(x, r, g) : IntVec{};
      }
#pragma GCC unroll 8
      for (int c = g * kCount; c < (g + 1) * kCount; c += kChunk) {
        Partial partials[kRows] = {};
#pragma GCC unroll 8
        for (int j = c; j < c + kChunk; ++j) {
          const Bytes codes = code_vector<kFormat.bits>(unit + v * kVecBytes, j);
#pragma GCC unroll 16
          for (int r = 0; r < kRows; ++r) {
            const IntVec four = broadcast_four(X::codes(x, r) + 4 * j);
            partials[r] = j == c ? products<kSigned>(codes, four)
                                 : add_products<kSigned>(partials[r], codes, four);
          }
        }
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) totals[r] = add_partial(totals[r], partials[r]);
      }
      const Vec weight_scale = UnitScales<kType>::scale(heads[v], unit, g, v);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec scale = weight_scale * broadcast(X::scale(x, r, g));
        sums[r][v] = fused(to_float(totals[r]), scale, sums[r][v]);
        if constexpr (kFormat.has_min) {
          sums[r][v] = fused(UnitScales<kType>::min(heads[v], unit, g, v),
                             broadcast(X::scaled_sum(x, r, g)), sums[r][v]);
        }
      }
    }
  }
}

// A panel and the only tile.
template <BlockType kType, int kRows>
void multiply_packed(const QuantisedCall& call, const QuantisedTiles& tiles, std::int64_t panel) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  const std::int64_t output = panel * kPanelOutputs;
  const std::byte* block = call.panels + panel * call.panel_bytes;
  const std::byte* x = tiles.records;
  Vec sums[kRows][kVecs];
#pragma GCC unroll 4
  for (int v = 0; v < kVecs; ++v) {
    const std::int64_t place = output + v * kLanes;
    const Vec bias = call.bias == nullptr ? Vec{} : load_outputs(call.bias + place, call.n - place);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) sums[r][v] = bias;
  }
  for (std::int64_t u = 0; u < tiles.units; u += kFormat.units) {
    typename UnitScales<kType>::Head heads[kVecs];
    for (int v = 0; v < kVecs; ++v) heads[v] = UnitScales<kType>::head(block, v);
    const std::byte* unit = block + kFormat.head_bytes();
    for (int i = 0; i < kFormat.units; ++i) {
      prefetch(unit, kFormat.block_bytes() / kFormat.units);
      add_packed<kType, kRows>(sums, unit, heads, x);
      unit += kFormat.unit_bytes();
      x += Record<kRows, kFormat.groups>::kBytes;
    }
    block += kFormat.block_bytes();
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      const std::int64_t place = output + v * kLanes;
      store_outputs(call.y + r * call.ldy + place, sums[r][v], r < tiles.m ? call.n - place : 0);
    }
  }
}

// A unit unpacked: the code vectors (not those that are bytes anyway: they are read where they
// are), then scales and, if there is one, mins of each group's outputs.
template <BlockType kType>
struct Unpacked {
  static constexpr QuantisedFormat kFormat = quantised_format(kType);
  static constexpr bool kCodesStay = kFormat.bits == 8;
  static_assert(!kCodesStay || kFormat.units == 1);
  static constexpr std::int64_t kScales = kCodesStay ? 0 : kCodeVectors * kVectorBytes;
  static constexpr std::int64_t kMins = kScales + kFormat.groups * kVectorBytes;
  static constexpr std::int64_t kBytes =
      kMins + (kFormat.has_min ? kFormat.groups * kVectorBytes : 0);
  // From a unit's codes to the next one's.
  static constexpr std::int64_t kCodesStep = kCodesStay ? kFormat.block_bytes() : kBytes;

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
    constexpr int kMoved = kCodesStay ? 0 : kCodeVectors;
#pragma GCC unroll 8
    for (int j = 0; j < kMoved; ++j) {
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

// Adds one unpacked unit, with its codes at `place`, to the sums of a tile's rows. `x`: its record.
template <BlockType kType, int kRows>
[[gnu::always_inline]] inline void add_unpacked(Vec (&sums)[kRows][kVecs], const std::byte* place,
                                                const std::byte* unit, const std::byte* x) {
  using Unit = Unpacked<kType>;
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  using X = Record<kRows, kFormat.groups>;
  constexpr int kCount = kCodeVectors / kFormat.groups;
  constexpr int kMost = partial_products(kFormat.bits);
  constexpr int kChunk = kMost < kCount ? kMost : kCount;
  constexpr bool kSigned = kFormat.bits == 8;
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
          codes[v] = load_codes(place + j * kVectorBytes + v * kVecBytes);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) {
          const IntVec four = broadcast_four(X::codes(x, r) + 4 * j);
#pragma GCC unroll 4
          for (int v = 0; v < kVecs; ++v) {
            partials[r][v] = j == c ? products<kSigned>(codes[v], four)
                                    : add_products<kSigned>(partials[r][v], codes[v], four);
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
  const std::byte* units;  // unpacked,
  const std::byte* codes;  // and their codes
  std::int64_t count;
  const std::byte* ahead;  // needed next: with each unit `lines` cache lines are fetched
  std::int64_t lines;
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
  Vec sums[kRows][kVecs];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const bool is_zero = r >= tile.rows || tile.start == nullptr;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      sums[r][v] = is_zero ? Vec{}
                           : load_outputs(tile.start + r * tile.start_stride + v * kLanes,
                                          tile.outputs - v * kLanes);
    }
  }
  const std::byte* unit = tile.units;
  const std::byte* x = tile.x;
  const std::byte* ahead = tile.ahead;
  const std::byte* codes = tile.codes;
  for (std::int64_t u = 0; u < tile.count; ++u) {
    add_unpacked<kType, kRows>(sums, codes, unit, x);
    codes += Unpacked<kType>::kCodesStep;
    for (std::int64_t line = 0; line < tile.lines; ++line, ahead += kLine) {
      prefetch_line(reinterpret_cast<std::uintptr_t>(ahead));
    }
    unit += Unpacked<kType>::kBytes;
    x += Record<kRows, quantised_format(kType).groups>::kBytes;
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
    const std::int64_t outputs = r < tile.rows ? tile.outputs : 0;
#pragma GCC unroll 4
    for (int v = 0; v < kVecs; ++v) {
      store_outputs(tile.y + r * tile.ldy + v * kLanes, sums[r][v], outputs - v * kLanes);
    }
  }
}

// Calls with(h), h a constant, if a last tile of few rows has `height`.
template <typename With, std::size_t... kFew>
void if_few(int height, const With& with, std::index_sequence<kFew...>) {
  ((height == kQuantisedFew[kFew] ? with(std::integral_constant<int, kQuantisedFew[kFew]>())
                                  : void()),
   ...);
}
constexpr auto kFewHeights = std::make_index_sequence<std::size(kQuantisedFew)>();

// Units of a panel, those of kDepth at most that are unpacked at once.
struct Chunk {
  std::int64_t panel;
  std::int64_t first;
  std::int64_t count;
  const std::byte* block;    // where they begin,
  const std::byte* end;      // and the units after them
  const std::byte* scratch;  // unpacked
};

// All tiles with a chunk.
template <BlockType kType>
void multiply_tiles(const QuantisedCall& call, const QuantisedTiles& tiles, std::int64_t tile_first,
                    std::int64_t tile_last, const Chunk& chunk) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  constexpr std::int64_t kFull = record_bytes(kQuantisedTile, kFormat.groups);
  const std::int64_t last = record_bytes(tiles.last_height, kFormat.groups);
  const std::int64_t output = chunk.panel * kPanelOutputs;
  // The first tiles share the fetching.
  const std::int64_t left = tile_last - tile_first;
  const std::int64_t fetching = left < kFetchingTiles ? left : kFetchingTiles;
  const std::int64_t lines = lines_of(kFormat.block_bytes() / kFormat.units, fetching);
  auto multiply_last = multiply_unpacked<kType, kQuantisedTile>;
  const auto choose = [&](auto h) { multiply_last = multiply_unpacked<kType, decltype(h)::value>; };
  if_few(tiles.last_height, choose, kFewHeights);
  QuantisedTile tile{};
  tile.units = chunk.scratch;
  tile.codes = Unpacked<kType>::kCodesStay ? chunk.block + kFormat.head_bytes() : chunk.scratch;
  tile.count = chunk.count;
  tile.ldy = call.ldy;
  tile.outputs = call.n - output;
  for (std::int64_t t = tile_first; t < tile_last; ++t) {
    const std::int64_t row = t * kQuantisedTile;
    const bool is_last = t == tiles.tiles - 1;
    const std::int64_t turn = t - tile_first;
    tile.lines = turn < fetching ? lines : 0;
    tile.ahead = chunk.end + turn * chunk.count * lines * kLine;
    tile.rows = tiles.m - row;
    tile.x = tiles.records + t * tiles.units * kFull + chunk.first * (is_last ? last : kFull);
    tile.y = call.y + row * call.ldy + output;
    tile.start = tile.y;
    tile.start_stride = call.ldy;
    if (chunk.first == 0) {
      tile.start = call.bias == nullptr ? nullptr : call.bias + output;
      tile.start_stride = 0;
    }
    (is_last ? multiply_last : multiply_unpacked<kType, kQuantisedTile>)(tile);
  }
}

template <BlockType kType>
void multiply_quantised(const QuantisedCall& call, const QuantisedTiles& tiles,
                        std::int64_t tile_first, std::int64_t tile_last, std::int64_t panel_first,
                        std::int64_t panel_last) {
  constexpr QuantisedFormat kFormat = quantised_format(kType);
  const bool is_few = tiles.tiles == 1 && tiles.last_height < kQuantisedTile;
  auto multiply_few = multiply_packed<kType, 1>;
  const auto choose = [&](auto h) { multiply_few = multiply_packed<kType, decltype(h)::value>; };
  if_few(tiles.last_height, choose, kFewHeights);
  alignas(kVectorBytes) std::byte scratch[kDepth * Unpacked<kType>::kBytes];
  for (std::int64_t panel = panel_first; panel < panel_last; ++panel) {
    if (is_few) {
      multiply_few(call, tiles, panel);
      continue;
    }
    Chunk chunk{panel, 0, 0, call.panels + panel * call.panel_bytes, nullptr, scratch};
    do {  // once without inputs, too: the outputs are then the bias
      const std::int64_t left = tiles.units - chunk.first;
      chunk.count = left < kDepth ? left : kDepth;
      chunk.end = chunk.block + chunk.count / kFormat.units * kFormat.block_bytes();
      Unpacked<kType>::fill(chunk.block, chunk.count, scratch);
      multiply_tiles<kType>(call, tiles, tile_first, tile_last, chunk);
      chunk.block = chunk.end;
      chunk.first += chunk.count;
    } while (chunk.first < tiles.units);
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
