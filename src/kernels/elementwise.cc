// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include "kernels/elementwise_kernels.h"

namespace quire::kernels {
namespace {

using std::int64_t;

// Below this many elements a hand-over to other threads costs more than it saves.
constexpr int64_t kSmall = 16384;

const ElementwiseKernels& active() { return elementwise_kernels(active_isa()); }

// Calls work(first, count) for slices of the rows.
template <typename Work>
void over_rows(ThreadPool* pool, int64_t rows, int64_t cols, const Work& work) {
  if (rows <= 0 || cols <= 0) return;
  run_on(rows * cols < kSmall ? nullptr : pool, [&](int part, int parts) {
    const Slice slice = slice_of(rows, 1, part, parts);
    if (slice.first < slice.last) work(slice.first, slice.last - slice.first);
  });
}

// Calls work(row, rows, col, cols) for pieces of a matrix whose elements are independent: slices
// of the rows or, where these are few, of the columns.
template <typename Work>
void over_elements(ThreadPool* pool, int64_t rows, int64_t cols, const Work& work) {
  if (pool == nullptr || rows >= pool->size()) {
    over_rows(pool, rows, cols,
              [&](int64_t first, int64_t count) { work(first, count, int64_t{0}, cols); });
  } else if (rows > 0) {
    constexpr int64_t kCacheLine = 16;
    run_on(rows * cols < kSmall ? nullptr : pool, [&](int part, int parts) {
      const Slice slice = slice_of(cols, kCacheLine, part, parts);
      if (slice.first < slice.last) work(int64_t{0}, rows, slice.first, slice.last - slice.first);
    });
  }
}

void unary(ElementwiseKernels::Unary kernel, const float* x, int64_t ldx, int64_t rows,
           int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  over_elements(pool, rows, cols, [&](int64_t row, int64_t count, int64_t col, int64_t width) {
    kernel(x + row * ldx + col, ldx, count, width, y + row * ldy + col, ldy);
  });
}

void gated(ElementwiseKernels::Gate kernel, const float* gate, int64_t ldg, const float* up,
           int64_t ldu, int64_t rows, int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  over_elements(pool, rows, cols, [&](int64_t row, int64_t count, int64_t col, int64_t width) {
    kernel(gate + row * ldg + col, ldg, up + row * ldu + col, ldu, count, width,
           y + row * ldy + col, ldy);
  });
}

void scaled(ElementwiseKernels::Scaled kernel, const float* x, int64_t ldx, float factor,
            int64_t rows, int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  over_elements(pool, rows, cols, [&](int64_t row, int64_t count, int64_t col, int64_t width) {
    kernel(x + row * ldx + col, ldx, factor, count, width, y + row * ldy + col, ldy);
  });
}

}  // namespace

void rms_norm(const float* x, int64_t ldx, const float* weight, float eps, int64_t rows,
              int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  over_rows(pool, rows, cols, [&](int64_t first, int64_t count) {
    active().rms_norm(x + first * ldx, ldx, weight, eps, count, cols, y + first * ldy, ldy);
  });
}

void layer_norm(const float* x, int64_t ldx, const float* weight, const float* bias, float eps,
                int64_t rows, int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  over_rows(pool, rows, cols, [&](int64_t first, int64_t count) {
    active().layer_norm(x + first * ldx, ldx, weight, bias, eps, count, cols, y + first * ldy, ldy);
  });
}

void rotate(float* x, int64_t tokens, int64_t heads, int64_t head_dim, int64_t rot_dims,
            int64_t ldx, const float* cos, const float* sin, ThreadPool* pool) {
  over_rows(pool, tokens, heads * rot_dims, [&](int64_t first, int64_t count) {
    const int64_t table = first * (rot_dims / 2);
    active().rotate(x + first * ldx, count, heads, head_dim, rot_dims, ldx, cos + table,
                    sin + table);
  });
}

void silu_mul(const float* gate, int64_t ldg, const float* up, int64_t ldu, int64_t rows,
              int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  gated(active().silu_mul, gate, ldg, up, ldu, rows, cols, y, ldy, pool);
}

void gelu_mul(const float* gate, int64_t ldg, const float* up, int64_t ldu, int64_t rows,
              int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  gated(active().gelu_mul, gate, ldg, up, ldu, rows, cols, y, ldy, pool);
}

void gelu_tanh_mul(const float* gate, int64_t ldg, const float* up, int64_t ldu, int64_t rows,
                   int64_t cols, float* y, int64_t ldy, ThreadPool* pool) {
  gated(active().gelu_tanh_mul, gate, ldg, up, ldu, rows, cols, y, ldy, pool);
}

void silu(const float* x, int64_t ldx, int64_t rows, int64_t cols, float* y, int64_t ldy,
          ThreadPool* pool) {
  unary(active().silu, x, ldx, rows, cols, y, ldy, pool);
}

void gelu(const float* x, int64_t ldx, int64_t rows, int64_t cols, float* y, int64_t ldy,
          ThreadPool* pool) {
  unary(active().gelu, x, ldx, rows, cols, y, ldy, pool);
}

void gelu_tanh(const float* x, int64_t ldx, int64_t rows, int64_t cols, float* y, int64_t ldy,
               ThreadPool* pool) {
  unary(active().gelu_tanh, x, ldx, rows, cols, y, ldy, pool);
}

void add(const float* x, int64_t ldx, int64_t rows, int64_t cols, float* y, int64_t ldy,
         ThreadPool* pool) {
  scaled(active().add_scaled, x, ldx, 1.0F, rows, cols, y, ldy, pool);
}

void add_scaled(const float* x, int64_t ldx, float scale, int64_t rows, int64_t cols, float* y,
                int64_t ldy, ThreadPool* pool) {
  scaled(active().add_scaled, x, ldx, scale, rows, cols, y, ldy, pool);
}

void scale(float* x, int64_t ldx, float factor, int64_t rows, int64_t cols, ThreadPool* pool) {
  scaled(active().scale, x, ldx, factor, rows, cols, x, ldx, pool);
}

void softcap(float* x, int64_t ldx, float cap, int64_t rows, int64_t cols, ThreadPool* pool) {
  scaled(active().softcap, x, ldx, cap, rows, cols, x, ldx, pool);
}

void softmax(float* x, int64_t ldx, int64_t rows, int64_t cols, ThreadPool* pool) {
  over_rows(pool, rows, cols, [&](int64_t first, int64_t count) {
    active().softmax(x + first * ldx, ldx, count, cols, x + first * ldx, ldx);
  });
}

Largest largest(const float* x, int64_t count) { return active().largest(x, count); }

}  // namespace quire::kernels
