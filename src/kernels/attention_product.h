// SPDX-License-Identifier: Apache-2.0
// The one matrix product of attention, with rows of a page on the right. Included by
// attention_impl.h.
#pragma once

#include <cstdint>

#include "kernels/attention_rows.h"

namespace quire {
namespace {

// c[rows, columns] += a[rows, depth] b[depth, columns], each sum in ascending order of depth.
struct Product {
  const float* a;
  std::int64_t a_stride;
  float* c;  // rows are whole units of columns
  std::int64_t c_stride;
  std::int64_t rows;
  std::int64_t depth;
  std::int64_t columns;
};

// Sums that stay in registers: up to kFewRows rows of one unit, else kManyRows of kManyVecs.
constexpr int kUnitVecs = static_cast<int>(kUnit) / kLanes;
constexpr int kFewRows = kLanes == 16 ? 6 : kLanes == 8 ? 3 : 1;
constexpr int kManyRows = 6;
constexpr int kManyVecs = 2;

// Loops are unrolled by request: only then are the sums registers.
template <int kRows, int kVecs, typename Rows>
inline void multiply_block(const Product& p, const Rows& b, std::int64_t row, std::int64_t column) {
  Vec sums[kRows][kVecs];
  const float* a = p.a + row * p.a_stride;
  float* c = p.c + row * p.c_stride + column;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) sums[r][j] = load(c + r * p.c_stride + j * kLanes);
  }
  for (std::int64_t d = 0; d < p.depth; ++d) {
    if constexpr (kRows <= kFewRows && kVecs == kUnitVecs) b.prefetch(d, column);
    // The fewer of factors and values stay in registers beside the sums.
    if constexpr (kRows < kVecs) {
      Vec factors[kRows];
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) factors[r] = broadcast(a[r * p.a_stride + d]);
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) {
        const Vec value = b.load(d, column, j);
#pragma GCC unroll 16
        for (int r = 0; r < kRows; ++r) sums[r][j] = fma(factors[r], value, sums[r][j]);
      }
    } else {
      Vec values[kVecs];
#pragma GCC unroll 16
      for (int j = 0; j < kVecs; ++j) values[j] = b.load(d, column, j);
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const Vec factor = broadcast(a[r * p.a_stride + d]);
#pragma GCC unroll 16
        for (int j = 0; j < kVecs; ++j) sums[r][j] = fma(factor, values[j], sums[r][j]);
      }
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 16
    for (int j = 0; j < kVecs; ++j) store(c + r * p.c_stride + j * kLanes, sums[r][j]);
  }
}

// The last columns, fewer than a vector; c's row has room for the whole vector.
template <typename Rows>
inline void multiply_tail(const Product& p, const Rows& b, std::int64_t row, std::int64_t column) {
  const float* a = p.a + row * p.a_stride;
  float* c = p.c + row * p.c_stride + column;
  Vec sums = load(c);
  for (std::int64_t d = 0; d < p.depth; ++d) {
    sums = fma(broadcast(a[d]), b.load_some(d, column, p.columns - column), sums);
  }
  store(c, sums);
}

template <int kRows, int kVecs, typename Rows>
inline void multiply_rows(const Product& p, const Rows& b, std::int64_t row) {
  std::int64_t column = 0;
  for (; column + kVecs * kLanes <= p.columns; column += kVecs * kLanes) {
    multiply_block<kRows, kVecs>(p, b, row, column);
  }
  for (; column + kLanes <= p.columns; column += kLanes) {
    multiply_block<kRows, 1>(p, b, row, column);
  }
  if (column < p.columns) {
    for (int r = 0; r < kRows; ++r) multiply_tail(p, b, row + r, column);
  }
}

// Up to kFewRows rows from `row` on.
template <typename Rows>
inline void multiply_few(const Product& p, const Rows& b, std::int64_t row) {
  const std::int64_t rows = p.rows - row;
  if constexpr (kFewRows >= 6) {
    if (rows >= 6) return multiply_rows<6, kUnitVecs>(p, b, row);
    if (rows == 5) return multiply_rows<5, kUnitVecs>(p, b, row);
    if (rows == 4) return multiply_rows<4, kUnitVecs>(p, b, row);
  }
  if constexpr (kFewRows >= 3) {
    if (rows >= 3) return multiply_rows<3, kUnitVecs>(p, b, row);
    if (rows == 2) return multiply_rows<2, kUnitVecs>(p, b, row);
  }
  return multiply_rows<1, kUnitVecs>(p, b, row);
}

// Many rows of floats.
inline void multiply_many(const Product& p, const F32Rows& b) {
  std::int64_t row = 0;
  for (; row + kManyRows <= p.rows; row += kManyRows) {
    multiply_rows<kManyRows, kManyVecs>(p, b, row);
  }
  for (; row < p.rows; row += kFewRows) multiply_few(p, b, row);
}

template <typename Rows>
inline void expand(const Rows& b, std::int64_t depth, std::int64_t columns, float* to,
                   std::int64_t stride) {
  for (std::int64_t d = 0; d < depth; ++d) {
    std::int64_t column = 0;
    for (; column + kUnit <= columns; column += kUnit) {
      b.prefetch(d, column);
      for (int j = 0; j < kUnitVecs; ++j) {
        store(to + d * stride + column + j * kLanes, b.load(d, column, j));
      }
    }
    for (; column + kLanes <= columns; column += kLanes) {
      store(to + d * stride + column, b.load(d, column, 0));
    }
    if (column < columns) store(to + d * stride + column, b.load_some(d, column, columns - column));
  }
}

// Rows that are read often are turned into floats once; the sums are the same.
template <typename Rows>
inline void multiply(const Product& p, const Rows& b, float* expanded) {
  if (p.rows <= 2 * kFewRows) {
    for (std::int64_t row = 0; row < p.rows; row += kFewRows) multiply_few(p, b, row);
    return;
  }
  const std::int64_t stride = padded(p.columns);
  expand(b, p.depth, p.columns, expanded, stride);
  multiply_many(p, F32Rows{expanded, stride});
}

inline void multiply(const Product& p, const F32Rows& b, float*) { multiply_many(p, b); }

}  // namespace
}  // namespace quire
