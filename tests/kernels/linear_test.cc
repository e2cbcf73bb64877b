// SPDX-License-Identifier: Apache-2.0
#include "kernels/linear.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/half.h"
#include "tests/kernels/isas.h"
#include "tests/kernels/linear_weight.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

using std::int64_t;

std::vector<float> product(const PackedMatrix& w, const std::vector<float>& x, int64_t m,
                           const float* bias = nullptr, ThreadPool* pool = nullptr) {
  std::vector<float> y(static_cast<std::size_t>(m * w.rows()), -7);
  kernels::linear(w, x.data(), m, w.cols(), bias, y.data(), w.rows(), pool);
  return y;
}

void expect_same_bits(const float* a, const float* b, int64_t count) {
  EXPECT_EQ(std::memcmp(a, b, static_cast<std::size_t>(count) * sizeof(float)), 0);
}

class LinearTest : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, LinearTest, testing::ValuesIn(machine_isas()), isa_test_name);

TEST_P(LinearTest, EqualsADoubleReference) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    for (const int64_t n : {1, 15, 16, 17, 33, 100, 192}) {
      for (const int64_t k : {1, 2, 7, 33, 256, 257, 600}) {
        const Weight w(n, k, dtype);
        for (const int64_t m : {1, 2, 3, 5, 8, 13}) {
          std::vector<float> x = random_floats(m * k, 2);
          if (kernels::rounds_inputs(dtype)) x = rounded_to_bf16(x);
          const std::vector<float> bias = m % 2 == 1 ? random_floats(n, 3) : std::vector<float>();
          expect_close(w, x, m, bias,
                       product(w.packed, x, m, bias.empty() ? nullptr : bias.data()));
        }
      }
    }
  }
}

TEST_P(LinearTest, ARowDoesNotDependOnTheBatch) {
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const int64_t n = 150;
    const int64_t k = 521;
    const Weight w(n, k, dtype);
    const std::vector<float> bias = random_floats(n, 3);
    const int64_t most = 200;
    const std::vector<float> x = random_floats(most * k, 2);
    std::vector<float> alone;
    for (int64_t r = 0; r < most; ++r) {
      const std::vector<float> row(x.begin() + r * k, x.begin() + (r + 1) * k);
      const std::vector<float> y = product(w.packed, row, 1, bias.data());
      alone.insert(alone.end(), y.begin(), y.end());
    }
    for (int64_t m = 1; m <= most; m += m < 40 ? 1 : 32) {
      const std::vector<float> y = product(w.packed, x, m, bias.data());
      expect_same_bits(y.data(), alone.data(), m * n);
    }
  }
}

TEST_P(LinearTest, NorOnTheThreads) {
  const int64_t k = 300;
  for (const int64_t n : {5, 16, 130, 1000}) {
    const Weight w(n, k, DType::kBF16);
    for (const int64_t m : {1, 7, 130}) {
      const std::vector<float> x = random_floats(m * k, 2);
      const std::vector<float> one = product(w.packed, x, m);
      for (const int threads : {1, 2, 3}) {
        ThreadPool pool(threads);
        expect_same_bits(product(w.packed, x, m, nullptr, &pool).data(), one.data(), m * n);
      }
    }
  }
}

TEST_P(LinearTest, NorOnTheStrides) {
  const int64_t n = 37;
  const int64_t k = 65;
  const int64_t m = 9;
  const Weight w(n, k, DType::kF32);
  const std::vector<float> x = random_floats(m * k, 2);
  const std::vector<float> dense = product(w.packed, x, m);
  const int64_t ldx = k + 3;
  const int64_t ldy = n + 5;
  std::vector<float> wide_x(static_cast<std::size_t>(m * ldx),
                            std::numeric_limits<float>::quiet_NaN());
  for (int64_t r = 0; r < m; ++r) {
    std::copy_n(x.begin() + r * k, k, wide_x.begin() + r * ldx);
  }
  std::vector<float> y(static_cast<std::size_t>(m * ldy), -7);
  kernels::linear(w.packed, wide_x.data(), m, ldx, nullptr, y.data(), ldy, nullptr);
  for (int64_t r = 0; r < m; ++r) {
    expect_same_bits(y.data() + r * ldy, dense.data() + r * n, n);
    for (int64_t gap = n; gap < ldy; ++gap) {
      EXPECT_EQ(y[static_cast<std::size_t>(r * ldy + gap)], -7) << "written between rows";
    }
  }
}

TEST_P(LinearTest, EveryRoundedWeightComesOutExactly) {
  // A unit vector picks a column, so that all bit patterns of a format pass through a product.
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    const int64_t n = 1 << 15;
    const int64_t k = 2;
    const auto value = [&](int64_t i) {
      const auto bits = static_cast<std::uint16_t>(i);
      return dtype == DType::kBF16 ? float_from_bf16(bits) : float_from_f16(bits);
    };
    const PackedMatrix w(
        n, k, dtype,
        [&](int64_t first, int64_t count, float* out) {
          for (int64_t i = 0; i < count * k; ++i) out[i] = value(first * k + i);
        },
        nullptr);
    std::vector<float> row(2);
    for (int64_t o = 0; o < n; ++o) {
      w.row(o, row.data());
      for (int64_t i = 0; i < k; ++i) {
        const float expected = value(o * k + i);
        if (std::isnan(expected)) {
          EXPECT_TRUE(std::isnan(row[static_cast<std::size_t>(i)]));
        } else {
          expect_same_bits(&row[static_cast<std::size_t>(i)], &expected, 1);
        }
      }
    }
    const std::vector<float> y = product(w, {1, 0}, 1);
    for (int64_t o = 0; o < n; ++o) {
      // Infinity or NaN in the other column times 0 is NaN. Products of pairs may take numbers
      // below the normal ones for zeros.
      const float expected =
          std::isfinite(value(o * k + 1)) ? value(o * k) : std::numeric_limits<float>::quiet_NaN();
      const bool may_be_zero = kernels::rounds_inputs(dtype) && std::fabs(expected) < 0x1p-126F;
      const float got = y[static_cast<std::size_t>(o)];
      EXPECT_TRUE(got == expected || (std::isnan(got) && std::isnan(expected)) ||
                  (got == 0 && may_be_zero))
          << o << ": " << got << " expected " << expected;
    }
  }
}

TEST_P(LinearTest, NanAndInfinityReachTheirOutputsOnly) {
  const int64_t n = 40;
  const int64_t k = 31;
  const int64_t m = 7;
  const Weight w(n, k, DType::kBF16);
  std::vector<float> x = random_floats(m * k, 2);
  x[2 * k + 30] = std::numeric_limits<float>::quiet_NaN();
  x[4 * k + 1] = std::numeric_limits<float>::infinity();
  const std::vector<float> y = product(w.packed, x, m);
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t o = 0; o < n; ++o) {
      const float value = y[static_cast<std::size_t>(r * n + o)];
      EXPECT_EQ(std::isnan(value), r == 2);
      EXPECT_EQ(std::isinf(value), r == 4);
    }
  }
}

TEST_P(LinearTest, NothingToDoIsNoError) {
  const Weight w(3, 4, DType::kF32);
  kernels::linear(w.packed, nullptr, 0, 4, nullptr, nullptr, 3, nullptr);
  const PackedMatrix empty;
  float x = 1;
  kernels::linear(empty, &x, 1, 0, nullptr, &x, 0, nullptr);
  EXPECT_EQ(x, 1);
}

TEST_P(LinearTest, WithoutInputsTheBiasIsTheResult) {
  const Weight w(18, 0, DType::kBF16);
  const std::vector<float> bias = random_floats(18, 3);
  EXPECT_EQ(product(w.packed, {}, 1, bias.data()), bias);
}

}  // namespace
}  // namespace quire
