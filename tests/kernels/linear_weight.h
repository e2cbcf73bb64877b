// SPDX-License-Identifier: Apache-2.0
// Weights of linear layers for tests, and what a product with them is.
#pragma once

#include <quire/dtype.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/half.h"
#include "kernels/packed_matrix.h"
#include "tests/kernels/random_floats.h"

namespace quire {

// A weight as float rows, already rounded to `dtype`, and packed.
struct Weight {
  Weight(std::int64_t n, std::int64_t k, DType dtype, unsigned seed = 1)
      : rows(random_floats(n * k, seed)),
        packed(
            n, k, dtype,
            [&](std::int64_t first, std::int64_t count, float* out) {
              std::memcpy(out, rows.data() + first * k,
                          static_cast<std::size_t>(count * k) * sizeof(float));
            },
            nullptr) {
    for (float& value : rows) {
      if (dtype == DType::kBF16) value = float_from_bf16(bf16_from_float(value));
      if (dtype == DType::kF16) value = float_from_f16(f16_from_float(value));
    }
  }

  std::vector<float> rows;
  PackedMatrix packed;
};

inline std::vector<float> rounded_to_bf16(std::vector<float> x) {
  for (float& value : x) value = float_from_bf16(bf16_from_float(value));
  return x;
}

// Every output within the error that a chain of `k` roundings may have.
inline void expect_close(const Weight& w, const std::vector<float>& x, std::int64_t m,
                         const std::vector<float>& bias, const std::vector<float>& y) {
  const std::int64_t n = w.packed.rows();
  const std::int64_t k = w.packed.cols();
  for (std::int64_t r = 0; r < m; ++r) {
    for (std::int64_t o = 0; o < n; ++o) {
      double sum = bias.empty() ? 0 : static_cast<double>(bias[static_cast<std::size_t>(o)]);
      double size = std::fabs(sum);
      for (std::int64_t i = 0; i < k; ++i) {
        const double term = static_cast<double>(x[static_cast<std::size_t>(r * k + i)]) *
                            static_cast<double>(w.rows[static_cast<std::size_t>(o * k + i)]);
        sum += term;
        size += std::fabs(term);
      }
      const double bound = 0x1p-23 * std::sqrt(static_cast<double>(k) + 4) * size;
      ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(r * n + o)]), sum, bound)
          << "row " << r << " output " << o << " of " << n << " x " << k;
    }
  }
}

}  // namespace quire
