// SPDX-License-Identifier: Apache-2.0
// The part of elementwise.h that is compiled for each instruction set (elementwise_impl.h): the
// same functions without the threads. Row-wise ones take a pointer to their first row.
#pragma once

#include <quire/cpu.h>

#include <cstdint>

namespace quire {

// The largest of a row's numbers, and what among them is none.
struct Largest {
  float value;  // -infinity if there is none
  bool above;   // a NaN or infinity is among them
  bool below;   // a NaN or -infinity is
};

struct ElementwiseKernels {
  using Unary = void (*)(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols,
                         float* y, std::int64_t ldy);
  using Gate = void (*)(const float* gate, std::int64_t ldg, const float* up, std::int64_t ldu,
                        std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy);
  // y = op(x, factor) or op(y, x, factor).
  using Scaled = void (*)(const float* x, std::int64_t ldx, float factor, std::int64_t rows,
                          std::int64_t cols, float* y, std::int64_t ldy);

  void (*rms_norm)(const float* x, std::int64_t ldx, const float* weight, float eps,
                   std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy);
  void (*layer_norm)(const float* x, std::int64_t ldx, const float* weight, const float* bias,
                     float eps, std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy);
  void (*rotate)(float* x, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
                 std::int64_t rot_dims, std::int64_t ldx, const float* cos, const float* sin);
  Gate silu_mul, gelu_mul, gelu_tanh_mul;
  Unary silu, gelu, gelu_tanh;
  Scaled add_scaled, scale, softcap;
  Unary softmax;
  Largest (*largest)(const float* x, std::int64_t count);
};

extern const ElementwiseKernels kElementwisePortable;
extern const ElementwiseKernels kElementwiseAvx2;
extern const ElementwiseKernels kElementwiseAvx512;

const ElementwiseKernels& elementwise_kernels(Isa isa);

}  // namespace quire
