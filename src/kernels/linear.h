// SPDX-License-Identifier: Apache-2.0
// y = x W^T + bias for packed weights, in float32 arithmetic.
//
// Every output is one chain of fused multiply-adds over the inputs in ascending order, starting
// at the bias (or 0): acc = fma(x[k], w[k], acc). So it has the same bits whatever the number of
// rows beside it, the number of threads and the tiling. (The portable kernels round the product
// too, in the same order. On processors with AVX512_BF16, inputs that meet bf16 weights are rounded
// to bf16 as well, and a step of the chain adds two products.)
//
// Thread-safety: concurrent calls are independent; callers that share a pool take turns.
#pragma once

#include <cstdint>

#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"

namespace quire::kernels {

// Whether inputs are rounded to bf16 when they meet weights of `dtype`.
bool rounds_inputs(DType dtype);

// x: m rows of w.cols() floats, `ldx` apart. bias: w.rows() floats, or null. y: m rows of w.rows()
// floats, `ldy` apart; must not overlap x. m may be 0. `pool` may be null.
void linear(const PackedMatrix& w, const float* x, std::int64_t m, std::int64_t ldx,
            const float* bias, float* y, std::int64_t ldy, ThreadPool* pool);

}  // namespace quire::kernels
