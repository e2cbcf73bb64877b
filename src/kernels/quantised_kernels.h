// SPDX-License-Identifier: Apache-2.0
// The part of linear() with quantised weights that is compiled for each instruction set
// (quantised_impl.h). All sets give the same bits: sums of codes are exact integers, and the float
// operations on them are the same, in the same order.
#pragma once

#include <quire/checkpoint.h>
#include <quire/cpu.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace quire {

// Rows quantised in `tiles` tiles, all of QuantisedKernels::tile_rows but the last, which is of
// `last_height`, one of few_rows or tile_rows, or 1 if m is (rows past the m-th are zeros).
struct QuantisedTiles {
  std::byte* records;
  std::int64_t m;
  std::int64_t units;  // of a row
  std::int64_t tiles;
  int last_height;
};

// One call of linear(). `panels` as in quantised_format.h.
struct QuantisedCall {
  const std::byte* panels;
  std::int64_t panel_bytes;
  std::int64_t n;     // outputs
  const float* bias;  // null: none
  float* y;
  std::int64_t ldy;
};

struct QuantisedKernels {
  // Outputs of panels [panel_first, panel_last) for tiles [tile_first, tile_last).
  using Product = void (*)(const QuantisedCall& call, const QuantisedTiles& x,
                           std::int64_t tile_first, std::int64_t tile_last,
                           std::int64_t panel_first, std::int64_t panel_last);
  // Quantises the rows of tiles [tile_first, tile_last) from x, `ldx` apart, for weights that have
  // `offset` added to their codes.
  using Quantise = void (*)(const float* x, std::int64_t ldx, int offset,
                            const QuantisedTiles& tiles, std::int64_t tile_first,
                            std::int64_t tile_last);

  static constexpr int kTypes = 10;
  static constexpr int index(BlockType type) {
    return static_cast<int>(type) - static_cast<int>(BlockType::kQ4_0);
  }

  Product product[kTypes];  // by index(); a tile of one row is for itself: m = 1
  Quantise quantise_by_32;
  Quantise quantise_by_16;
  int signed_offset;              // that these kernels add to codes of 8 bits
  int tile_rows;                  // of a full tile
  std::span<const int> few_rows;  // of the last tile where no more are left, ascending

  // The tiles of m rows, without their records. REQUIRES: m > 0.
  QuantisedTiles tiles_of(std::int64_t m, std::int64_t units) const {
    QuantisedTiles tiles{nullptr, m, units, (m + tile_rows - 1) / tile_rows, tile_rows};
    const std::int64_t left = m - (tiles.tiles - 1) * tile_rows;
    const auto few = std::ranges::lower_bound(few_rows, left);
    if (few != few_rows.end()) tiles.last_height = *few;
    if (m == 1) tiles.last_height = 1;
    return tiles;
  }
};

extern const QuantisedKernels kQuantisedPortable;
extern const QuantisedKernels kQuantisedAvx2;
extern const QuantisedKernels kQuantisedAvx512;

const QuantisedKernels& quantised_kernels(Isa isa);

}  // namespace quire
