// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/quantised_linear.h"
#include "tests/kernels/isas.h"
#include "tests/kernels/quantised_weights.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

using std::int64_t;

std::vector<float> product(const QuantisedMatrix& w, const std::vector<float>& x, int64_t m,
                           const float* bias = nullptr, ThreadPool* pool = nullptr) {
  std::vector<float> y(static_cast<std::size_t>(m * w.rows()), -7);
  kernels::linear(w, x.data(), m, w.cols(), bias, y.data(), w.rows(), pool);
  return y;
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

// A row of x as the kernels see it: rounded to 127 steps of each group's largest magnitude.
std::vector<double> rounded(const float* x, int64_t k, int groups) {
  std::vector<double> values;
  const int64_t size = kUnit / groups;
  for (int64_t i = 0; i < k; i += size) {
    float peak = 0;
    for (int64_t j = i; j < i + size; ++j) peak = std::max(peak, std::fabs(x[j]));
    const float inverse = peak == 0 ? 0 : 127 / peak;
    const float scale = peak / 127;
    for (int64_t j = i; j < i + size; ++j) {
      values.push_back(static_cast<double>(std::nearbyintf(x[j] * inverse)) *
                       static_cast<double>(scale));
    }
  }
  return values;
}

using Case = std::tuple<Isa, BlockType>;

class QuantisedTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override { set_isa_limit(std::get<0>(GetParam())); }
  void TearDown() override { set_isa_limit(Isa::kAvx512); }
  BlockType type() const { return std::get<1>(GetParam()); }
  int64_t block() const { return quantised_format(type()).block_inputs(); }
};

INSTANTIATE_TEST_SUITE_P(All, QuantisedTest,
                         testing::Combine(testing::ValuesIn(machine_isas()),
                                          testing::ValuesIn(kQuantisedTypes)),
                         [](const testing::TestParamInfo<Case>& test) {
                           return std::string(isa_name(std::get<0>(test.param))) + "_" +
                                  std::string(to_string(std::get<1>(test.param)));
                         });

TEST_P(QuantisedTest, PackedRowsAreThoseOfTheDefinition) {
  for (const int64_t n : {1, 16, 35}) {
    const QuantisedWeights weights(n, 2 * block(), type());
    const QuantisedMatrix packed = weights.packed();
    std::vector<float> row(static_cast<std::size_t>(packed.cols()));
    for (int64_t i = 0; i < n; ++i) {
      packed.row(i, row.data());
      EXPECT_EQ(row, weights.row(i));
    }
  }
}

// Within what float32 sums of the groups may be off, for activations that are already rounded.
void expect_close(const QuantisedWeights& weights, const std::vector<float>& x, int64_t m,
                  const std::vector<float>& bias, const std::vector<float>& y, int groups) {
  const int64_t k = weights.k();
  for (int64_t o = 0; o < weights.n(); ++o) {
    const std::vector<float> w = weights.row(o);
    for (int64_t r = 0; r < m; ++r) {
      const std::vector<double> row = rounded(x.data() + r * k, k, groups);
      double sum = bias.empty() ? 0 : static_cast<double>(bias[static_cast<std::size_t>(o)]);
      double size = std::fabs(sum);
      for (int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        sum += row[at] * static_cast<double>(w[at]);
        size += std::fabs(row[at]) * std::fabs(static_cast<double>(w[at]));
      }
      // A min and its weight may nearly cancel: then the parts are larger than the weight.
      const double bound = 0x1p-23 * std::sqrt(static_cast<double>(k) + 4) * (size + 1);
      ASSERT_NEAR(static_cast<double>(y[static_cast<std::size_t>(r * weights.n() + o)]), sum, bound)
          << "row " << r << " output " << o << " of " << weights.n() << " x " << k;
    }
  }
}

TEST_P(QuantisedTest, EqualsADoubleReference) {
  const int groups = quantised_format(type()).groups;
  for (const int64_t n : {1, 15, 16, 17, 50}) {
    for (const int64_t k : {block(), 3 * block()}) {
      const QuantisedWeights weights(n, k, type());
      const QuantisedMatrix packed = weights.packed();
      for (const int64_t m : {1, 2, 3, 4, 5, 13}) {
        const std::vector<float> x = random_floats(m * k, 2);
        const std::vector<float> bias = m % 2 == 1 ? random_floats(n, 3) : std::vector<float>();
        expect_close(weights, x, m, bias,
                     product(packed, x, m, bias.empty() ? nullptr : bias.data()), groups);
      }
    }
  }
}

TEST_P(QuantisedTest, TheLargestCodesAndActivationsDoNotOverflow) {
  const int64_t k = 5 * 256;
  const QuantisedWeights weights(16, k, type(), 1, true);
  const QuantisedMatrix packed = weights.packed();
  for (const float value : {-1.0F, 1.0F}) {
    const std::vector<float> x(static_cast<std::size_t>(3 * k), value);
    for (const int64_t m : {1, 3}) {
      expect_close(weights, x, m, {}, product(packed, x, m), 1);
    }
  }
}

TEST_P(QuantisedTest, ARowDoesNotDependOnTheBatch) {
  const int64_t n = 50;
  const int64_t k = 40 * 32 / block() * block();  // beyond a block of depth
  const QuantisedWeights weights(n, std::max(k, 5 * block()), type());
  const QuantisedMatrix packed = weights.packed();
  const std::vector<float> bias = random_floats(n, 3);
  const int64_t most = 250;
  const std::vector<float> x = random_floats(most * packed.cols(), 2);
  std::vector<float> alone;
  for (int64_t r = 0; r < most; ++r) {
    const std::vector<float> row(x.begin() + r * packed.cols(),
                                 x.begin() + (r + 1) * packed.cols());
    const std::vector<float> y = product(packed, row, 1, bias.data());
    alone.insert(alone.end(), y.begin(), y.end());
  }
  for (int64_t m = 1; m <= most; m += m < 28 ? 1 : 74) {
    const std::vector<float> first(alone.begin(), alone.begin() + m * n);
    EXPECT_TRUE(same_bits(product(packed, x, m, bias.data()), first)) << m;
  }
}

TEST_P(QuantisedTest, NorOnTheThreadsNorOnTheStrides) {
  const int64_t n = 210;
  const int64_t k = 2 * block();
  const QuantisedWeights weights(n, k, type());
  ThreadPool three(3);
  const QuantisedMatrix packed = weights.packed(&three);
  for (const int64_t m : {1, 7, 130}) {
    const std::vector<float> x = random_floats(m * k, 2);
    const std::vector<float> one = product(weights.packed(), x, m);
    for (const int threads : {1, 2, 3}) {
      ThreadPool pool(threads);
      EXPECT_TRUE(same_bits(product(packed, x, m, nullptr, &pool), one));
    }
    const int64_t ldx = k + 3;
    const int64_t ldy = n + 5;
    std::vector<float> wide_x(static_cast<std::size_t>(m * ldx),
                              std::numeric_limits<float>::quiet_NaN());
    for (int64_t r = 0; r < m; ++r) std::copy_n(x.begin() + r * k, k, wide_x.begin() + r * ldx);
    std::vector<float> y(static_cast<std::size_t>(m * ldy), -7);
    kernels::linear(packed, wide_x.data(), m, ldx, nullptr, y.data(), ldy, nullptr);
    for (int64_t r = 0; r < m; ++r) {
      EXPECT_EQ(std::memcmp(y.data() + r * ldy, one.data() + r * n,
                            static_cast<std::size_t>(n) * sizeof(float)),
                0);
      for (int64_t gap = n; gap < ldy; ++gap) {
        EXPECT_EQ(y[static_cast<std::size_t>(r * ldy + gap)], -7) << "written between rows";
      }
    }
  }
}

TEST_P(QuantisedTest, NorOnTheInstructionSet) {
  const int64_t n = 37;
  const QuantisedWeights weights(n, 5 * 256, type());
  const QuantisedMatrix packed = weights.packed();
  for (const int64_t m : {1, 2, 11}) {
    for (const float size : {1e-20F, 1.0F, 1e6F}) {
      const std::vector<float> x = random_floats(m * packed.cols(), 2, size);
      const std::vector<float> y = product(packed, x, m);
      set_isa_limit(Isa::kPortable);
      EXPECT_TRUE(same_bits(product(packed, x, m), y)) << m << " rows of size " << size;
      set_isa_limit(std::get<0>(GetParam()));
    }
  }
}

TEST_P(QuantisedTest, NanAndInfinityReachTheirRowsOnly) {
  const int64_t n = 20;
  const int64_t m = 7;
  const QuantisedWeights weights(n, 2 * block(), type());
  const QuantisedMatrix packed = weights.packed();
  const int64_t k = packed.cols();
  std::vector<float> x = random_floats(m * k, 2);
  x[static_cast<std::size_t>(2 * k + 30)] = std::numeric_limits<float>::quiet_NaN();
  x[static_cast<std::size_t>(4 * k + 1)] = -std::numeric_limits<float>::infinity();
  const std::vector<float> y = product(packed, x, m);
  for (int64_t r = 0; r < m; ++r) {
    for (int64_t o = 0; o < n; ++o) {
      EXPECT_EQ(std::isnan(y[static_cast<std::size_t>(r * n + o)]), r == 2 || r == 4);
    }
    const std::vector<float> row(x.begin() + r * k, x.begin() + (r + 1) * k);
    EXPECT_EQ(std::isnan(product(packed, row, 1)[0]), r == 2 || r == 4);
  }
}

TEST_P(QuantisedTest, ZerosAndTinyNumbersGiveTheBias) {
  const QuantisedWeights weights(18, block(), type());
  const std::vector<float> bias = random_floats(18, 3);
  for (const float value : {0.0F, 1e-44F, -1e-38F}) {
    const std::vector<float> x(static_cast<std::size_t>(block()), value);
    EXPECT_EQ(product(weights.packed(), x, 1, bias.data()), bias);
  }
}

TEST_P(QuantisedTest, NothingToDoIsNoError) {
  const QuantisedMatrix packed = QuantisedWeights(3, block(), type()).packed();
  kernels::linear(packed, nullptr, 0, block(), nullptr, nullptr, 3, nullptr);
  const QuantisedMatrix empty;
  float x = 1;
  kernels::linear(empty, &x, 1, 0, nullptr, &x, 0, nullptr);
  EXPECT_EQ(x, 1);
  const std::vector<float> bias = random_floats(18, 3);
  EXPECT_EQ(product(QuantisedWeights(18, 0, type()).packed(), {}, 1, bias.data()), bias);
}

TEST(QuantisedMatrix, PassesOnWhatItsSourceThrows) {
  const QuantisedSource source = [](int64_t row, const QuantisedRow&) {
    if (row == 70) throw std::runtime_error("no such row");
  };
  ThreadPool pool(2);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    EXPECT_THROW(QuantisedMatrix(100, 32, BlockType::kQ4_1, source, threads), std::runtime_error);
  }
}

TEST(QuantisedMatrix, TakesHardlyMoreThanTheFile) {
  // Bytes of a row of 256 in a file; K types have their scales in whole bytes here.
  const std::pair<BlockType, double> files[] = {{BlockType::kQ4_0, 144}, {BlockType::kQ4_1, 160},
                                                {BlockType::kQ5_0, 176}, {BlockType::kQ5_1, 192},
                                                {BlockType::kQ8_0, 272}, {BlockType::kQ2_K, 84},
                                                {BlockType::kQ3_K, 110}, {BlockType::kQ4_K, 144},
                                                {BlockType::kQ5_K, 176}, {BlockType::kQ6_K, 210}};
  for (const auto& [type, bytes] : files) {
    const QuantisedMatrix packed = QuantisedWeights(16, 256, type).packed();
    EXPECT_LE(static_cast<double>(packed.bytes()), 16 * bytes * 1.2) << to_string(type);
  }
}

}  // namespace
}  // namespace quire
