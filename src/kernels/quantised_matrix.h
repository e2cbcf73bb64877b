// SPDX-License-Identifier: Apache-2.0
// The weight of a linear layer, N outputs by K inputs, in the codes of a quantised file, laid out
// as linear() reads it (quantised_format.h). Codes and scales keep their values: row() gives what
// dequantising the file gives, bit for bit. 64-byte aligned, in memory of its own or an arena's.
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <functional>

#include "kernels/aligned_memory.h"
#include "kernels/quantised_format.h"
#include "kernels/thread_pool.h"

namespace quire {

// One row taken apart, to be filled: codes of K inputs; d (and m) of every block as binary16;
// for K types, the scale (and min) of every group. Members that a type lacks are not read.
struct QuantisedRow {
  std::uint8_t* codes;
  std::uint16_t* d;
  std::uint16_t* m;
  std::int8_t* scales;
  std::uint8_t* mins;
};

// Called from several threads at once, each row once; may throw (see QuantisedMatrix).
using QuantisedSource = std::function<void(std::int64_t row, const QuantisedRow& out)>;

class QuantisedMatrix {
 public:
  QuantisedMatrix() = default;  // empty: 0 x 0

  // Packs rows from `source`, in parallel on `pool` if not null. The first exception that `source`
  // throws is rethrown here. Throws std::bad_alloc.
  // REQUIRES: `type` is quantised and `cols` a multiple of its block.
  QuantisedMatrix(std::int64_t rows, std::int64_t cols, BlockType type,
                  const QuantisedSource& source, ThreadPool* pool, WeightArena* arena = nullptr);

  std::int64_t rows() const noexcept { return rows_; }  // N, outputs
  std::int64_t cols() const noexcept { return cols_; }  // K, inputs
  std::int64_t panels() const noexcept { return (rows_ + kPanelOutputs - 1) / kPanelOutputs; }
  BlockType type() const noexcept { return type_; }
  std::int64_t panel_bytes() const noexcept;
  std::int64_t bytes() const noexcept { return panels() * panel_bytes(); }
  const std::byte* data() const noexcept { return data_.get(); }

  // Row n as floats, K of them: an embedding look-up in a tied matrix.
  void row(std::int64_t n, float* out) const;

 private:
  std::int64_t rows_ = 0;
  std::int64_t cols_ = 0;
  BlockType type_ = BlockType::kQ8_0;
  AlignedMemory data_;
};

}  // namespace quire
