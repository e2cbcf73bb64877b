// SPDX-License-Identifier: Apache-2.0
// The layers of a transformer that are not matrix products, on float rows. Formulas and their
// order of operations are those of Hugging Face transformers in float32. exp, tanh and erf are
// vectorised and accurate to a few units in the last place.
//
// Common to all: a matrix is `rows` rows of `cols` floats whose starts are `ld...` floats apart.
// Results of a row depend on that row alone, not on the rows beside it nor on the threads.
// In place (y == x with equal strides) is allowed; other overlap is not. `pool` may be null; small
// work runs on the caller's thread anyway. NaN propagates.
//
// Thread-safety: concurrent calls are independent; callers that share a pool take turns.
#pragma once

#include <cstdint>

#include "kernels/elementwise_kernels.h"
#include "kernels/thread_pool.h"

namespace quire::kernels {

// y = x / sqrt(mean(x^2) + eps) * weight; weight: cols floats, or null for none.
// (Gemma's 1 + w is the caller's: add 1 to the weight once.)
void rms_norm(const float* x, std::int64_t ldx, const float* weight, float eps, std::int64_t rows,
              std::int64_t cols, float* y, std::int64_t ldy, ThreadPool* pool);

// y = (x - mean) / sqrt(var + eps) * weight + bias, var biased; weight and bias may be null.
void layer_norm(const float* x, std::int64_t ldx, const float* weight, const float* bias, float eps,
                std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy, ThreadPool* pool);

// Rotary embedding in place, halves split (NeoX, Hugging Face): in every head of a token's row
//   x[i]     = x[i] * cos[i] - x[i + h] * sin[i]
//   x[i + h] = x[i + h] * cos[i] + x[i] * sin[i],      i < h = rot_dims / 2
// and dimensions from rot_dims on stay. x: token rows of heads * head_dim floats, `ldx` apart;
// cos, sin: [tokens][rot_dims / 2]. rot_dims is even and at most head_dim.
void rotate(float* x, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
            std::int64_t rot_dims, std::int64_t ldx, const float* cos, const float* sin,
            ThreadPool* pool);

// y = act(gate) * up.
void silu_mul(const float* gate, std::int64_t ldg, const float* up, std::int64_t ldu,
              std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy, ThreadPool* pool);
void gelu_mul(const float* gate, std::int64_t ldg, const float* up, std::int64_t ldu,
              std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy, ThreadPool* pool);
void gelu_tanh_mul(const float* gate, std::int64_t ldg, const float* up, std::int64_t ldu,
                   std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy,
                   ThreadPool* pool);

// y = act(x).
void silu(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
          std::int64_t ldy, ThreadPool* pool);
void gelu(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
          std::int64_t ldy, ThreadPool* pool);  // 0.5 x (1 + erf(x / sqrt 2))
void gelu_tanh(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
               std::int64_t ldy, ThreadPool* pool);

// y += x; y += scale * x (one rounding where the machine has fused multiply-add); x *= scale.
void add(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
         std::int64_t ldy, ThreadPool* pool);
void add_scaled(const float* x, std::int64_t ldx, float scale, std::int64_t rows, std::int64_t cols,
                float* y, std::int64_t ldy, ThreadPool* pool);
void scale(float* x, std::int64_t ldx, float factor, std::int64_t rows, std::int64_t cols,
           ThreadPool* pool);

// x = cap * tanh(x / cap), in place.
void softcap(float* x, std::int64_t ldx, float cap, std::int64_t rows, std::int64_t cols,
             ThreadPool* pool);

// Each row becomes exp(x - max) / sum, in place. A row of -inf alone, or with a NaN, becomes NaN.
void softmax(float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, ThreadPool* pool);

// Of one row, on the caller's thread.
Largest largest(const float* x, std::int64_t count);

}  // namespace quire::kernels
