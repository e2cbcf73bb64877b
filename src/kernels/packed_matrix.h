// SPDX-License-Identifier: Apache-2.0
// The weight of a linear layer, N outputs by K inputs, in the order in which linear() reads it:
// panels of 16 outputs, zero-padded to whole panels. Panel p holds outputs 16p .. 16p + 15:
//   f32, f16  [K][16]           the 16 outputs of one input side by side
//   bf16      [(K + 1) / 2][16][2]   two inputs of an output side by side: one 32-bit lane gives
//                                    both as floats by a shift and a mask, without a shuffle
// 64-byte aligned, in memory of its own or an arena's; rounding from float is to nearest, ties to
// even.
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/dtype.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/aligned_memory.h"
#include "kernels/thread_pool.h"

namespace quire {

// Writes rows [first, first + count) of a row-major [N, K] float matrix to `out` (count * K
// floats). Called from several threads at once, each row once; may throw (see PackedMatrix).
using RowSource = std::function<void(std::int64_t first, std::int64_t count, float* out)>;

class PackedMatrix {
 public:
  static constexpr std::int64_t kPanel = 16;

  PackedMatrix() = default;  // empty: 0 x 0

  // Packs rows from `source` as `dtype` (kF32, kBF16 or kF16), in parallel on `pool` if not null.
  // The first exception that `source` throws is rethrown here. Throws std::bad_alloc.
  PackedMatrix(std::int64_t rows, std::int64_t cols, DType dtype, const RowSource& source,
               ThreadPool* pool, WeightArena* arena = nullptr);

  std::int64_t rows() const noexcept { return rows_; }  // N, outputs
  std::int64_t cols() const noexcept { return cols_; }  // K, inputs
  std::int64_t panels() const noexcept { return (rows_ + kPanel - 1) / kPanel; }
  DType dtype() const noexcept { return dtype_; }
  std::size_t panel_bytes() const noexcept;
  std::size_t bytes() const noexcept { return static_cast<std::size_t>(panels()) * panel_bytes(); }
  const std::byte* data() const noexcept { return data_.get(); }

  // Row n as floats, K of them: an embedding look-up in a tied matrix.
  void row(std::int64_t n, float* out) const;

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  DType dtype_ = DType::kF32;
  AlignedMemory data_;
};

}  // namespace quire
