// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine_codes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

std::vector<std::uint8_t> coded(std::span<const float> x, const Affine& affine, int bits) {
  std::vector<std::uint8_t> codes(x.size());
  affine_codes(x, affine, bits, codes);
  return codes;
}

// In double, of the best codes for a scale and zero.
double error_of(std::span<const float> x, double scale, double zero, int bits) {
  double sum = 0;
  for (const float value : x) {
    const double exact = scale > 0 ? (double{value} - zero) / scale : 0;
    const double code = std::clamp(std::round(exact), 0.0, double((1 << bits) - 1));
    sum += std::pow(zero + scale * code - double{value}, 2);
  }
  return sum;
}

double error_of(std::span<const float> x, const Affine& affine, int bits) {
  return error_of(x, double{affine.scale}, double{affine.zero}, bits);
}

class AffineCodes : public ::testing::TestWithParam<int> {};

TEST_P(AffineCodes, AreTheNearest) {
  const int bits = GetParam();
  for (unsigned seed = 0; seed < 50; ++seed) {
    const std::vector<float> x = random_floats(1 + seed, seed, seed % 3 == 0 ? 1e-3F : 5);
    const Affine affine = fit_affine(x, bits, Ends::kMayBeCut);
    const std::vector<std::uint8_t> codes = coded(x, affine, bits);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      ASSERT_LT(codes[i], 1 << bits);
      const float back = affine.zero + affine.scale * static_cast<float>(codes[i]);
      sum += std::pow(double{back} - double{x[i]}, 2);
    }
    EXPECT_NEAR(sum, error_of(x, affine, bits), 1e-4 * sum + 1e-12) << seed;
  }
}

// Not worse than the range, and near to what a search over many scales and zeros finds.
TEST_P(AffineCodes, FitWell) {
  const int bits = GetParam();
  const int levels = (1 << bits) - 1;
  double ours = 0;
  double searched = 0;
  double ranges = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    const std::vector<float> x = random_floats(32, seed);
    const auto [low, high] = std::ranges::minmax(x);
    const double range = double{high} - double{low};
    double best = error_of(x, range / levels, double{low}, bits);
    ranges += best;
    for (double from = 0; from < 0.25; from += 0.01) {
      for (double to = 0; to < 0.25; to += 0.01) {
        const double scale = range * (1 - from - to) / levels;
        best = std::min(best, error_of(x, scale, double{low} + from * range, bits));
      }
    }
    searched += best;
    ours += error_of(x, fit_affine(x, bits, Ends::kMayBeCut), bits);
  }
  if (bits == 8) {
    EXPECT_LT(ours, 1.1 * ranges);
  } else {
    EXPECT_LT(ours, 0.95 * ranges);
    EXPECT_LT(ours, 1.25 * searched);
  }
}

TEST_P(AffineCodes, Corners) {
  const int bits = GetParam();
  const std::vector<float> same(32, 0.5F);
  const Affine constant = fit_affine(same, bits, Ends::kKept);
  EXPECT_EQ(constant.zero, 0.5F);
  EXPECT_EQ(error_of(same, constant, bits), 0);
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const float odd : {infinity, -infinity, nan, 3e38F, -3e38F, 1e-45F}) {
    std::vector<float> x = random_floats(32, 1);
    x[7] = odd;
    const std::vector<std::uint8_t> codes = coded(x, fit_affine(x, bits, Ends::kMayBeCut), bits);
    for (const std::uint8_t code : codes) ASSERT_LT(code, 1 << bits) << odd;
    if (std::isnan(odd)) {
      EXPECT_EQ(codes[7], 0);
    }
  }
}

// Narrower ranges are tried where they are allowed, and only taken when they fit better.
TEST(AffineCodesEnds, CutWhereThatHelps) {
  double kept = 0;
  double cut = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::vector<float> x = random_floats(32, seed);
    x[5] = 4;
    const double with = error_of(x, fit_affine(x, 4, Ends::kKept), 4);
    const double without = error_of(x, fit_affine(x, 4, Ends::kMayBeCut), 4);
    EXPECT_LE(without, with * (1 + 1e-5)) << seed;
    kept += with;
    cut += without;
  }
  EXPECT_LT(cut, 0.99 * kept);
}

INSTANTIATE_TEST_SUITE_P(Bits, AffineCodes, ::testing::Values(2, 4, 8));

}  // namespace
}  // namespace quire
