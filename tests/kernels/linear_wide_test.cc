// SPDX-License-Identifier: Apache-2.0
// Linear layers with sixteen lanes, emulated: bf16 by products of pairs.
// clang-format off
#include "tests/kernels/simd_emulated.h"
#include "kernels/simd.h"
#include "kernels/linear_impl.h"
#include "kernels/linear_pairs.h"
// clang-format on

#include <limits>
#include <vector>

#include "tests/kernels/linear_weight.h"

namespace quire {
namespace {

// What linear() does, on one thread.
std::vector<float> product(const PackedMatrix& w, const std::vector<float>& x, std::int64_t m,
                           const std::vector<float>& bias) {
  const std::int64_t pairs = (w.cols() + 1) / 2;
  std::vector<float> rounded(static_cast<std::size_t>(m * pairs));
  for (std::int64_t r = 0; r < m; ++r) {
    kLinearPairs.round_to_pairs(x.data() + r * w.cols(), w.cols(), rounded.data() + r * pairs);
  }
  std::vector<float> y(static_cast<std::size_t>(m * w.rows()), -7);
  const LinearCall call{w.data(),
                        w.panel_bytes(),
                        w.rows(),
                        pairs,
                        rounded.data(),
                        pairs,
                        bias.empty() ? nullptr : bias.data(),
                        y.data(),
                        w.rows()};
  kLinearPairs.bf16(call, 0, m, 0, w.panels());
  return y;
}

TEST(LinearPairs, EqualADoubleReference) {
  for (const std::int64_t n : {1, 15, 16, 17, 100, 150}) {
    for (const std::int64_t k : {0, 1, 2, 7, 33, 256, 521, 1100}) {
      const Weight w(n, k, DType::kBF16);
      for (const std::int64_t m : {1, 2, 5, 8, 13, 40}) {
        const std::vector<float> x = random_floats(m * k, 2);
        const std::vector<float> bias = m % 2 == 1 ? random_floats(n, 3) : std::vector<float>();
        expect_close(w, rounded_to_bf16(x), m, bias, product(w.packed, x, m, bias));
      }
    }
  }
}

TEST(LinearPairs, ARowDoesNotDependOnTheBatch) {
  const std::int64_t k = 521;
  const Weight w(70, k, DType::kBF16);
  const std::vector<float> x = random_floats(40 * k, 2);
  const std::vector<float> all = product(w.packed, x, 40, {});
  for (std::int64_t r = 0; r < 40; ++r) {
    const std::vector<float> row(x.begin() + r * k, x.begin() + (r + 1) * k);
    const std::vector<float> alone = product(w.packed, row, 1, {});
    EXPECT_EQ(std::memcmp(alone.data(), all.data() + r * 70, 70 * sizeof(float)), 0) << r;
  }
}

TEST(LinearPairs, NanAndInfinityReachTheirOutputsOnly) {
  const std::int64_t n = 40;
  const std::int64_t k = 31;
  const std::int64_t m = 7;
  const Weight w(n, k, DType::kBF16);
  std::vector<float> x = random_floats(m * k, 2);
  x[2 * k + 30] = std::numeric_limits<float>::quiet_NaN();
  x[4 * k + 1] = std::numeric_limits<float>::infinity();
  const std::vector<float> y = product(w.packed, x, m, {});
  for (std::int64_t r = 0; r < m; ++r) {
    for (std::int64_t o = 0; o < n; ++o) {
      const float value = y[static_cast<std::size_t>(r * n + o)];
      EXPECT_EQ(std::isnan(value), r == 2) << r << " " << o << " " << value;
      EXPECT_EQ(std::isinf(value), r == 4) << r << " " << o << " " << value;
    }
  }
}

TEST(LinearPairs, InputsAreRoundedToNearestEven) {
  std::vector<float> x = random_floats(37, 5);
  x[0] = 0x1.01p0F;  // a tie, to even below
  x[1] = 0x1.03p0F;  // a tie, to even above
  x[2] = std::numeric_limits<float>::infinity();
  x[3] = -std::numeric_limits<float>::quiet_NaN();
  x[4] = std::numeric_limits<float>::max();
  x[5] = -0.0F;
  x[6] = 0x1p-149F;
  std::vector<float> pairs(19);
  round_to_pairs(x.data(), 37, pairs.data());
  std::uint16_t halves[38];
  std::memcpy(halves, pairs.data(), sizeof(halves));
  for (std::size_t i = 0; i < 37; ++i) EXPECT_EQ(halves[i], bf16_from_float(x[i])) << i;
  EXPECT_EQ(halves[37], 0);
}

}  // namespace
}  // namespace quire
