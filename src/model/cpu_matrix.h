// SPDX-License-Identifier: Apache-2.0
// A matrix of the CPU's operations. In a dtype of its own it is packed in one piece; in
// DType::kNative as the file has it, in pieces where its rows are encoded differently (the values
// of a Q4_K_M file's attention are wider than its queries): quantised blocks keep their codes,
// numbers their type (float64 becomes float32).
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/dtype.h>

#include <cstdint>
#include <variant>
#include <vector>

#include "kernels/packed_matrix.h"
#include "kernels/quantised_matrix.h"
#include "model/ops.h"
#include "model/weights_plan.h"

namespace quire {

class CpuMatrix final : public Matrix {
 public:
  // Throws std::bad_alloc.
  CpuMatrix(const MatrixPlan& plan, DType dtype, ThreadPool* pool, WeightArena* arena);

  // The bytes that `plan` takes, biases apart.
  static std::int64_t packed_bytes(const MatrixPlan& plan, DType dtype);

  std::int64_t rows() const override { return rows_; }
  std::int64_t cols() const override { return cols_; }
  std::int64_t bytes() const override;

  // Row n as floats.
  void row(std::int64_t n, float* out) const;

  // y = x W^T + bias, as in kernels/linear.h.
  void multiply(const float* x, std::int64_t m, std::int64_t ldx, float* y, std::int64_t ldy,
                ThreadPool* pool) const;

 private:
  struct Piece {
    std::int64_t first;  // row
    std::variant<PackedMatrix, QuantisedMatrix> weight;
  };

  std::int64_t rows_;
  std::int64_t cols_;
  std::vector<Piece> pieces_;  // by row
  std::vector<float> bias_;    // empty: none
};

}  // namespace quire
