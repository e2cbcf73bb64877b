// SPDX-License-Identifier: Apache-2.0
// y = x W^T + bias for quantised weights. Rows of x are quantised to 8 bits in groups of 32 (16
// where the weights have groups of 16); products are summed as integers within a group and in
// float32 over the groups, in ascending order, beginning with the bias (or 0).
//
// So an output has the same bits whatever the number of rows beside it, the number of threads, the
// tiling and the instruction set. A row with NaN or infinity gives NaN.
//
// Thread-safety: concurrent calls are independent; callers that share a pool take turns.
#pragma once

#include <cstdint>

#include "kernels/quantised_matrix.h"
#include "kernels/thread_pool.h"

namespace quire::kernels {

// x: m rows of w.cols() floats, `ldx` apart. bias: w.rows() floats, or null. y: m rows of w.rows()
// floats, `ldy` apart; must not overlap x. m may be 0. `pool` may be null.
void linear(const QuantisedMatrix& w, const float* x, std::int64_t m, std::int64_t ldx,
            const float* bias, float* y, std::int64_t ldy, ThreadPool* pool);

}  // namespace quire::kernels
