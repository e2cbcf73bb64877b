// SPDX-License-Identifier: Apache-2.0
#include "kernels/quantised_linear.h"

#include <algorithm>
#include <memory>

#include "kernels/claims.h"
#include "kernels/quantised_kernels.h"

namespace quire::kernels {
namespace {

using std::int64_t;

// Rows that a thread takes at once: their activations stay in the second-level cache while all
// panels pass by.
constexpr int64_t kRowBlock = 192;

// Below this many activations a hand-over to other threads costs more than it saves.
constexpr int64_t kSmall = 16384;

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

}  // namespace

void linear(const QuantisedMatrix& w, const float* x, int64_t m, int64_t ldx, const float* bias,
            float* y, int64_t ldy, ThreadPool* pool) {
  if (m <= 0 || w.rows() == 0) return;
  const QuantisedKernels& kernels = quantised_kernels(active_isa());
  const QuantisedFormat format = quantised_format(w.type());

  QuantisedTiles tiles = kernels.tiles_of(m, w.cols() / kUnit);
  const int64_t rows = (tiles.tiles - 1) * kernels.tile_rows + tiles.last_height;
  const auto records = std::make_unique_for_overwrite<std::byte[]>(
      static_cast<std::size_t>(rows * tiles.units * record_bytes(1, format.groups)));
  tiles.records = records.get();
  const auto quantise = format.groups == 2 ? kernels.quantise_by_16 : kernels.quantise_by_32;
  const int offset = format.bits == 8 ? kernels.signed_offset : format.offset;
  run_on(m * w.cols() < kSmall ? nullptr : pool, [&](int part, int parts) {
    const Slice slice = slice_of(tiles.tiles, 1, part, parts);
    quantise(x, ldx, offset, tiles, slice.first, slice.last);
  });

  // What threads take is panels for a block of tiles; those of a block follow each other.
  const QuantisedCall call{w.data(), w.panel_bytes(), w.rows(), bias, y, ldy};
  const auto product = kernels.product[QuantisedKernels::index(w.type())];
  const int64_t block = kRowBlock / kernels.tile_rows;
  Claims claims(divide_up(tiles.tiles, block) * w.panels(), pool);
  run_on(pool, [&](int, int) {
    claims.over_rows(w.panels(), [&](int64_t row, int64_t first, int64_t last) {
      const int64_t tile = row * block;
      product(call, tiles, tile, std::min(tiles.tiles, tile + block), first, last);
    });
  });
}

}  // namespace quire::kernels
