// SPDX-License-Identifier: Apache-2.0
// Matrix product with packed weights, included by linear_<isa>.cc after simd_<isa>.h and simd.h.
//
// A tile is up to kTileRows rows by one or more panels of 16 outputs, its sums in registers. The
// inputs are cut into blocks of kDepth so that a panel's block stays in the first-level cache for
// all tiles of a block of rows; between blocks the sums rest in y, which changes no bit of them.
// A single row reads several panels side by side instead, to have enough independent sums.
#pragma once

#include <cstdint>

#include "kernels/linear_kernels.h"

namespace quire {
namespace {

constexpr int kPanel = 16;
constexpr int kVecs = kPanel / kLanes;
constexpr std::int64_t kDepth = 256;

// How far ahead weights are asked for, in bytes. It may run past a panel's end: into the next.
constexpr std::int64_t kPrefetch = 4096;

// One step of every format is two inputs, an even and an odd one.
struct F32Format {
  static constexpr std::int64_t kInputBytes = kPanel * 4;
  static Vec add(Vec sum, Vec input, Vec weight) { return accumulate(sum, input, weight); }
  static Vec even(const std::byte* step, int v) { return at(step, v); }
  static Vec odd(const std::byte* step, int v) { return at(step, kVecs + v); }
  static Vec at(const std::byte* step, int v) {
    return load(reinterpret_cast<const float*>(step) + v * kLanes);
  }
};

struct F16Format {
  static constexpr std::int64_t kInputBytes = kPanel * 2;
  static Vec add(Vec sum, Vec input, Vec weight) { return accumulate(sum, input, weight); }
  static Vec even(const std::byte* step, int v) { return at(step, v); }
  static Vec odd(const std::byte* step, int v) { return at(step, kVecs + v); }
  static Vec at(const std::byte* step, int v) {
    return load_f16(reinterpret_cast<const std::uint16_t*>(step) + v * kLanes);
  }
};

struct Bf16Format {
  static constexpr std::int64_t kInputBytes = kPanel * 2;
  static Vec add(Vec sum, Vec input, Vec weight) { return accumulate(sum, input, weight); }
  static Vec even(const std::byte* step, int v) { return as_float(pairs(step, v) << 16); }
  static Vec odd(const std::byte* step, int v) { return as_float(high_halves(pairs(step, v))); }
  static IntVec pairs(const std::byte* step, int v) {
    IntVec both;
    std::memcpy(&both, step + v * static_cast<int>(sizeof(both)), sizeof(both));
    return both;
  }
};

// A tile's place: sums start at `start` (a row every `start_stride`, null: zeros) and end in y.
struct Tile {
  const std::byte* panel;
  std::int64_t panel_bytes;
  std::int64_t depth;
  const float* x;
  std::int64_t ldx;
  const float* start;
  std::int64_t start_stride;
  float* y;
  std::int64_t ldy;
  std::int64_t outputs;  // valid ones; fewer than 16 a panel only in the matrix's last panel
};

// Keeps the compiler from loading the second input's operands before the first's are used up: the
// registers hold the sums and one input's.
template <typename T>
void keep_apart(const T*& pointer) {
  asm volatile("" : "+r"(pointer));
}

template <typename Format, int kPanels>
void prefetch(const std::byte* step, std::int64_t panel_bytes) {
  constexpr std::int64_t kCacheLine = 64;
  for (int p = 0; p < kPanels; ++p) {
    for (std::int64_t line = 0; line < 2 * Format::kInputBytes; line += kCacheLine) {
      __builtin_prefetch(step + p * panel_bytes + kPrefetch + line);
    }
  }
}

// Adds to the sums one input of every row times its weights: the even or the odd one of a step.
// Loops are unrolled by request, here and where sums are loaded: only then are these registers.
template <typename Format, int kRows, int kPanels, bool kOdd>
[[gnu::always_inline]] inline void add_input(Vec (&sums)[kRows][kPanels * kVecs],
                                             const std::byte* step, std::int64_t panel_bytes,
                                             const float* x, std::int64_t ldx) {
  constexpr int kColumns = kPanels * kVecs;
  const auto weight = [step, panel_bytes](int c) {
    const std::byte* panel = step + (c / kVecs) * panel_bytes;
    return kOdd ? Format::odd(panel, c % kVecs) : Format::even(panel, c % kVecs);
  };
  if constexpr (kRows == 1) {
    const Vec input = broadcast(*x);
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) sums[0][c] = Format::add(sums[0][c], input, weight(c));
  } else {
    Vec weights[kColumns];
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) weights[c] = weight(c);
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) {
      const Vec input = broadcast(x[r * ldx]);
#pragma GCC unroll 16
      for (int c = 0; c < kColumns; ++c) sums[r][c] = Format::add(sums[r][c], input, weights[c]);
    }
  }
}

template <typename Format, int kRows, int kPanels>
void multiply_tile(const Tile& tile) {
  constexpr int kColumns = kPanels * kVecs;
  Vec sums[kRows][kColumns];
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      sums[r][c] = tile.start == nullptr
                       ? Vec{}
                       : load_outputs(tile.start + r * tile.start_stride + c * kLanes,
                                      tile.outputs - c * kLanes);
    }
  }
  const float* x = tile.x;
  const std::byte* step = tile.panel;
  std::int64_t left = tile.depth;
  for (; left >= 2; left -= 2, x += 2, step += 2 * Format::kInputBytes) {
    prefetch<Format, kPanels>(step, tile.panel_bytes);
    add_input<Format, kRows, kPanels, false>(sums, step, tile.panel_bytes, x, tile.ldx);
    keep_apart(x);
    keep_apart(step);
    add_input<Format, kRows, kPanels, true>(sums, step, tile.panel_bytes, x + 1, tile.ldx);
  }
  if (left != 0) {
    add_input<Format, kRows, kPanels, false>(sums, step, tile.panel_bytes, x, tile.ldx);
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int c = 0; c < kColumns; ++c) {
      store_outputs(tile.y + r * tile.ldy + c * kLanes, sums[r][c], tile.outputs - c * kLanes);
    }
  }
}

using TileFunction = void (*)(const Tile&);

// Panels side by side for a tile of `rows`: as many as leave registers for the sums, an input and,
// unless each is used once only, a weight of every column.
constexpr int panels_for(int rows) {
  int panels = kStreamPanels;
  while (panels > 1) {
    const int columns = panels * kVecs;
    const int weights = rows > 1 ? columns : 1;
    if (rows * columns + weights + 1 <= kRegisters) break;
    panels /= 2;
  }
  return panels;
}

template <typename Format, int kRows>
TileFunction tile_function(int panels) {
  constexpr int kMost = panels_for(kRows);
  if constexpr (kMost >= 8) {
    if (panels == 8) return multiply_tile<Format, kRows, 8>;
  }
  if constexpr (kMost >= 4) {
    if (panels == 4) return multiply_tile<Format, kRows, 4>;
  }
  if constexpr (kMost >= 2) {
    if (panels == 2) return multiply_tile<Format, kRows, 2>;
  }
  return multiply_tile<Format, kRows, 1>;
}

template <typename Format, int kRows = 1>
TileFunction tile_function_for(int rows, int panels) {
  if constexpr (kRows < kTileRows) {
    if (rows > kRows) return tile_function_for<Format, kRows + 1>(rows, panels);
  }
  return tile_function<Format, kRows>(panels);
}

// All tiles of one block of rows and one block of inputs.
template <typename Format>
void multiply_depth(const LinearCall& call, std::int64_t row_first, std::int64_t row_last,
                    std::int64_t panel_first, std::int64_t panel_last, std::int64_t k,
                    std::int64_t depth) {
  // Tiles of nearly equal height: 8 rows are 4 + 4, not 6 + 2.
  const std::int64_t rows = row_last - row_first;
  const std::int64_t tiles = (rows + kTileRows - 1) / kTileRows;
  const int most_panels = panels_for(static_cast<int>((rows + tiles - 1) / tiles));
  Tile tile{};
  tile.panel_bytes = static_cast<std::int64_t>(call.panel_bytes);
  tile.depth = depth;
  tile.ldx = call.ldx;
  tile.ldy = call.ldy;
  int panels = most_panels;
  for (std::int64_t p = panel_first; p < panel_last; p += panels) {
    while (panels > panel_last - p) panels /= 2;
    const std::int64_t output = p * kPanel;
    tile.panel = call.panels + p * tile.panel_bytes + k * Format::kInputBytes;
    tile.outputs = call.n - output;
    for (std::int64_t t = 0; t < tiles; ++t) {
      const std::int64_t first = row_first + rows * t / tiles;
      const std::int64_t last = row_first + rows * (t + 1) / tiles;
      tile.x = call.x + first * call.ldx + k;
      tile.y = call.y + first * call.ldy + output;
      tile.start = tile.y;
      tile.start_stride = call.ldy;
      if (k == 0) {
        tile.start = call.bias == nullptr ? nullptr : call.bias + output;
        tile.start_stride = 0;
      }
      tile_function_for<Format>(static_cast<int>(last - first), panels)(tile);
    }
  }
}

template <typename Format>
void multiply_block(const LinearCall& call, std::int64_t row_first, std::int64_t row_last,
                    std::int64_t panel_first, std::int64_t panel_last) {
  // Few rows use a panel once or twice: better to read it through.
  const std::int64_t most = row_last - row_first <= 2 * kTileRows ? call.k : kDepth;
  std::int64_t k = 0;
  do {  // once without inputs, too: the outputs are then the bias
    const std::int64_t depth = call.k - k < most ? call.k - k : most;
    multiply_depth<Format>(call, row_first, row_last, panel_first, panel_last, k, depth);
    k += most;
  } while (k < call.k);
}

constexpr LinearKernels kLinear = {multiply_block<F32Format>, multiply_block<Bf16Format>,
                                   multiply_block<F16Format>, kStreamPanels, nullptr};

}  // namespace
}  // namespace quire
