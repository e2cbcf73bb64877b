// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise.h"

#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numbers>
#include <vector>

#include "gmock/gmock.h"
#include "tests/kernels/isas.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

using std::int64_t;
using Floats = std::vector<float>;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

double silu(double x) { return x / (1 + std::exp(-x)); }
double gelu(double x) { return 0.5 * x * std::erfc(-x / std::numbers::sqrt2); }
double gelu_tanh(double x) {
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
}

// Distance in units in the last place of the exact value.
double ulps(float got, double exact) {
  const double size = std::max(std::fabs(exact), double{std::numeric_limits<float>::min()});
  return std::fabs(static_cast<double>(got) - exact) / std::ldexp(1.0, std::ilogb(size) - 23);
}

// Numbers of every size, both signs.
Floats all_sizes(float most) {
  Floats values;
  for (float v = most; v > 1e-30F; v *= v > 1e-3F ? 0.9991F : 0.7F) {
    values.push_back(v);
    values.push_back(-v);
  }
  values.push_back(0);
  return values;
}

int64_t count(const Floats& values) { return static_cast<int64_t>(values.size()); }

class ElementwiseTest : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, ElementwiseTest, testing::ValuesIn(machine_isas()), isa_test_name);

TEST_P(ElementwiseTest, TanhIsAccurateToAFewUlps) {
  const Floats x = all_sizes(50);
  Floats y = x;
  kernels::softcap(y.data(), 0, 1.0F, 1, count(y), nullptr);
  for (std::size_t i = 0; i < x.size(); ++i) {
    ASSERT_LE(ulps(y[i], std::tanh(double{x[i]})), 2.5) << x[i];
  }
}

TEST_P(ElementwiseTest, SiluIsAccurateToAFewUlps) {
  const Floats x = all_sizes(85);
  Floats y(x.size());
  kernels::silu(x.data(), 0, 1, count(x), y.data(), 0, nullptr);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_LE(ulps(y[i], silu(double{x[i]})), 4) << x[i];
}

// gelu's float formula cancels for negative x: its error is relative to x there.
TEST_P(ElementwiseTest, GeluErrorsAreAFewUlpsOfX) {
  const Floats x = all_sizes(20);
  Floats y(x.size());
  for (const bool exact : {true, false}) {
    const auto& kernel = exact ? kernels::gelu : kernels::gelu_tanh;
    kernel(x.data(), 0, 1, count(x), y.data(), 0, nullptr);
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double expected = exact ? gelu(double{x[i]}) : gelu_tanh(double{x[i]});
      ASSERT_NEAR(static_cast<double>(y[i]), expected, 2.5 * 0x1p-24 * std::fabs(double{x[i]}))
          << x[i];
    }
  }
}

TEST_P(ElementwiseTest, ActivationsAtTheEnds) {
  const Floats x = {kInfinity, -kInfinity, kNan, 1000, -1000, 0.0F, -0.0F};
  Floats y(x.size());
  kernels::silu(x.data(), 0, 1, count(x), y.data(), 0, nullptr);
  EXPECT_EQ(y[0], kInfinity);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_EQ(y[3], 1000);
  EXPECT_EQ(y[4], 0);
  for (const auto& kernel : {kernels::gelu, kernels::gelu_tanh}) {
    kernel(x.data(), 0, 1, count(x), y.data(), 0, nullptr);
    EXPECT_EQ(y[0], kInfinity);
    EXPECT_TRUE(std::isnan(y[2]));
    EXPECT_EQ(y[3], 1000);
    EXPECT_EQ(y[4], 0);
    EXPECT_EQ(y[5], 0);
  }
  y = x;
  kernels::softcap(y.data(), 0, 30.0F, 1, count(y), nullptr);
  EXPECT_EQ(y[0], 30);
  EXPECT_EQ(y[1], -30);
  EXPECT_TRUE(std::isnan(y[2]));
  EXPECT_TRUE(std::signbit(y[6]));
}

TEST_P(ElementwiseTest, SoftmaxEqualsADoubleReference) {
  for (const int64_t cols : {1, 3, 8, 17, 31, 64, 100, 1000}) {
    Floats y = random_floats(3 * cols, 5, 10);
    y[static_cast<std::size_t>(cols / 2)] = -kInfinity;  // a masked position
    if (cols == 1) y[0] = -2;
    const Floats x = y;
    kernels::softmax(y.data(), cols, 3, cols, nullptr);
    for (int64_t r = 0; r < 3; ++r) {
      const float* row = x.data() + r * cols;
      const double most = double{*std::max_element(row, row + cols)};
      double sum = 0;
      for (int64_t c = 0; c < cols; ++c) sum += std::exp(double{row[c]} - most);
      for (int64_t c = 0; c < cols; ++c) {
        const double expected = std::exp(double{row[c]} - most) / sum;
        // The difference to the largest is rounded before exp sees it.
        const double bound = 8 + std::fabs(double{row[c]} - most);
        if (row[c] == -kInfinity) {
          EXPECT_EQ(y[static_cast<std::size_t>(r * cols + c)], 0);
        } else {
          EXPECT_LE(ulps(y[static_cast<std::size_t>(r * cols + c)], expected), bound);
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, SoftmaxOfNothingOrNanIsNan) {
  for (const int64_t cols : {1, 5, 33}) {
    for (const float value : {-kInfinity, kNan}) {
      for (int64_t at = 0; at < cols; ++at) {
        Floats y(static_cast<std::size_t>(cols), -kInfinity);
        y[static_cast<std::size_t>(at)] = value;
        kernels::softmax(y.data(), cols, 1, cols, nullptr);
        for (const float v : y) EXPECT_TRUE(std::isnan(v));
      }
    }
  }
}

TEST_P(ElementwiseTest, TheLargestOfARowAndWhatIsNoNumber) {
  for (int64_t count = 0; count < 140; ++count) {
    const Floats row = random_floats(count, static_cast<unsigned>(count), 4);
    const Largest found = kernels::largest(row.data(), count);
    EXPECT_EQ(found.value, row.empty() ? -kInfinity : *std::max_element(row.begin(), row.end()));
    EXPECT_FALSE(found.above || found.below);
    for (const float odd : {kNan, kInfinity, -kInfinity}) {
      for (int64_t at = 0; at < count; ++at) {
        Floats changed = row;
        changed[static_cast<std::size_t>(at)] = odd;
        const Largest other = kernels::largest(changed.data(), count);
        EXPECT_EQ(other.above, odd != -kInfinity);
        EXPECT_EQ(other.below, odd != kInfinity);
        if (odd == -kInfinity) {
          EXPECT_EQ(other.value, *std::max_element(changed.begin(), changed.end()));
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, RmsNormEqualsADoubleReference) {
  for (const int64_t cols : {1, 7, 8, 33, 64, 576, 1001}) {
    const Floats x = random_floats(2 * cols, 6, 3);
    const Floats weight = random_floats(cols, 7);
    for (const bool weighted : {true, false}) {
      Floats y(x.size());
      kernels::rms_norm(x.data(), cols, weighted ? weight.data() : nullptr, 1e-5F, 2, cols,
                        y.data(), cols, nullptr);
      for (int64_t r = 0; r < 2; ++r) {
        double squares = 0;
        for (int64_t c = 0; c < cols; ++c) {
          squares += std::pow(double{x[static_cast<std::size_t>(r * cols + c)]}, 2);
        }
        const double factor = 1 / std::sqrt(squares / static_cast<double>(cols) + double{1e-5F});
        for (int64_t c = 0; c < cols; ++c) {
          const auto i = static_cast<std::size_t>(r * cols + c);
          const double w = weighted ? double{weight[static_cast<std::size_t>(c)]} : 1;
          EXPECT_LE(ulps(y[i], double{x[i]} * factor * w), 8);
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, LayerNormEqualsADoubleReference) {
  for (const int64_t cols : {1, 7, 8, 33, 384, 1001}) {
    Floats x = random_floats(2 * cols, 6, 3);
    for (float& value : x) value += 20;  // a mean far from zero must not cancel
    const Floats weight = random_floats(cols, 7);
    const Floats bias = random_floats(cols, 8);
    for (const bool affine : {true, false}) {
      Floats y(x.size());
      kernels::layer_norm(x.data(), cols, affine ? weight.data() : nullptr,
                          affine ? bias.data() : nullptr, 1e-5F, 2, cols, y.data(), cols, nullptr);
      for (int64_t r = 0; r < 2; ++r) {
        const float* row = x.data() + r * cols;
        double mean = 0;
        for (int64_t c = 0; c < cols; ++c) mean += double{row[c]} / static_cast<double>(cols);
        double var = 0;
        for (int64_t c = 0; c < cols; ++c) {
          var += std::pow(double{row[c]} - mean, 2) / static_cast<double>(cols);
        }
        const double factor = 1 / std::sqrt(var + double{1e-5F});
        for (int64_t c = 0; c < cols; ++c) {
          const auto i = static_cast<std::size_t>(c);
          double expected = (double{row[c]} - mean) * factor;
          if (affine) expected = expected * double{weight[i]} + double{bias[i]};
          // One float of 20 has an error of 2^-20, which the norm scales like a value.
          const double scale = affine ? 1 + std::fabs(double{weight[i]}) : 1.0;
          EXPECT_NEAR(double{y[static_cast<std::size_t>(r * cols + c)]}, expected,
                      scale *
                          (4e-6 * std::min(factor, 1.0) + 1e-6 + 0x1p-21 * std::fabs(expected)) *
                          (cols == 1 ? 1e3 : 1));
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, RotateTurnsPairsOfHalves) {
  const int64_t tokens = 5;
  const int64_t heads = 3;
  for (const int64_t head_dim : {2, 16, 64, 80}) {
    for (const int64_t rot_dims : {int64_t{2}, head_dim / 4 * 2, head_dim}) {
      if (rot_dims == 0) continue;
      const int64_t half = rot_dims / 2;
      const int64_t ld = heads * head_dim + 3;
      const Floats x = random_floats(tokens * ld, 9);
      Floats cos(static_cast<std::size_t>(tokens * half));
      Floats sin(cos.size());
      for (std::size_t i = 0; i < cos.size(); ++i) {
        cos[i] = std::cos(static_cast<float>(i));
        sin[i] = std::sin(static_cast<float>(i));
      }
      Floats y = x;
      kernels::rotate(y.data(), tokens, heads, head_dim, rot_dims, ld, cos.data(), sin.data(),
                      nullptr);
      for (int64_t t = 0; t < tokens; ++t) {
        for (int64_t j = 0; j < ld; ++j) {
          const int64_t d = j % head_dim;
          const auto at = static_cast<std::size_t>(t * ld + j);
          if (j >= heads * head_dim || d >= rot_dims) {
            EXPECT_EQ(y[at], x[at]) << "not rotated";
            continue;
          }
          const auto angle = static_cast<std::size_t>(t * half + d % half);
          const float partner = d < half ? -x[at + static_cast<std::size_t>(half)]
                                         : x[at - static_cast<std::size_t>(half)];
          const double expected =
              double{x[at]} * double{cos[angle]} + double{partner} * double{sin[angle]};
          EXPECT_NEAR(double{y[at]}, expected, 1e-6);
        }
      }
    }
  }
}

TEST_P(ElementwiseTest, GatesMultiply) {
  const int64_t cols = 37;
  const Floats gate = random_floats(2 * cols, 1, 2);
  const Floats up = random_floats(2 * cols, 2, 2);
  using Gate = decltype(&kernels::silu_mul);
  using Act = decltype(&kernels::silu);
  const std::pair<Gate, Act> pairs[] = {{kernels::silu_mul, kernels::silu},
                                        {kernels::gelu_mul, kernels::gelu},
                                        {kernels::gelu_tanh_mul, kernels::gelu_tanh}};
  for (const auto& [gated, act] : pairs) {
    Floats y(gate.size());
    Floats acted(gate.size());
    gated(gate.data(), cols, up.data(), cols, 2, cols, y.data(), cols, nullptr);
    act(gate.data(), cols, 2, cols, acted.data(), cols, nullptr);
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], acted[i] * up[i]);
  }
}

TEST_P(ElementwiseTest, AddAndScale) {
  const Floats x = random_floats(35, 1);
  const Floats before = random_floats(35, 2);
  Floats y = before;
  kernels::add(x.data(), 7, 5, 7, y.data(), 7, nullptr);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], before[i] + x[i]);
  y = before;
  kernels::add_scaled(x.data(), 7, 0.37F, 5, 7, y.data(), 7, nullptr);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_NEAR(double{y[i]}, double{before[i]} + double{0.37F} * double{x[i]}, 1e-6);
  }
  y = before;
  kernels::scale(y.data(), 7, 0.37F, 5, 7, nullptr);
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], before[i] * 0.37F);
}

// Every function on a large matrix by three threads, and on each of its rows alone.
TEST_P(ElementwiseTest, RowsDoNotDependOnTheBatchNorOnTheThreads) {
  const int64_t rows = 50;
  const int64_t cols = 720;  // of which heads of 80
  const Floats weight = random_floats(cols, 3);
  const Floats cos = random_floats(rows * 40, 4);
  const Floats sin = random_floats(rows * 40, 5);
  using Step = std::function<void(const float*, int64_t, int64_t, float*, ThreadPool*)>;
  const auto act = [&](auto kernel) -> Step {
    return [=](const float* x, int64_t, int64_t n, float* y, ThreadPool* pool) {
      kernel(x, cols, n, cols, y, cols, pool);
    };
  };
  const auto gate = [&](auto kernel) -> Step {
    return [=](const float* x, int64_t, int64_t n, float* y, ThreadPool* pool) {
      kernel(x, cols, x, cols, n, cols, y, cols, pool);
    };
  };
  const Step steps[] = {
      act(kernels::silu),
      act(kernels::gelu),
      act(kernels::gelu_tanh),
      act(kernels::add),
      gate(kernels::silu_mul),
      gate(kernels::gelu_mul),
      gate(kernels::gelu_tanh_mul),
      [&](const float* x, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::rms_norm(x, cols, weight.data(), 1e-6F, n, cols, y, cols, pool);
      },
      [&](const float* x, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::layer_norm(x, cols, weight.data(), weight.data(), 1e-6F, n, cols, y, cols, pool);
      },
      [&](const float*, int64_t first, int64_t n, float* y, ThreadPool* pool) {
        kernels::rotate(y, n, 9, 80, 80, cols, cos.data() + first * 40, sin.data() + first * 40,
                        pool);
      },
      [&](const float* x, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::add_scaled(x, cols, 0.3F, n, cols, y, cols, pool);
      },
      [&](const float*, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::scale(y, cols, 0.3F, n, cols, pool);
      },
      [&](const float*, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::softcap(y, cols, 2.0F, n, cols, pool);
      },
      [&](const float*, int64_t, int64_t n, float* y, ThreadPool* pool) {
        kernels::softmax(y, cols, n, cols, pool);
      },
  };
  const Floats x = random_floats(rows * cols, 1, 3);
  const Floats start = random_floats(rows * cols, 2, 3);
  ThreadPool pool(3);
  for (const Step& step : steps) {
    Floats together = start;
    step(x.data(), 0, rows, together.data(), &pool);
    Floats alone = start;
    for (int64_t r = 0; r < rows; ++r) {
      step(x.data() + r * cols, r, 1, alone.data() + r * cols, nullptr);
    }
    EXPECT_NE(alone, start);
    EXPECT_EQ(std::memcmp(together.data(), alone.data(), alone.size() * sizeof(float)), 0)
        << "step " << &step - steps;
  }
}

// One wide row is split by columns.
TEST_P(ElementwiseTest, ColumnsDoNotDependOnTheThreads) {
  Floats one = random_floats(50001, 1, 3);
  Floats three = one;
  ThreadPool pool(3);
  kernels::softcap(one.data(), count(one), 5.0F, 1, count(one), nullptr);
  kernels::softcap(three.data(), count(one), 5.0F, 1, count(one), &pool);
  EXPECT_EQ(one, three);
}

TEST_P(ElementwiseTest, NothingIsWrittenBetweenRows) {
  const int64_t cols = 13;
  const int64_t ld = 17;
  const Floats x = random_floats(3 * ld, 1);
  Floats y(static_cast<std::size_t>(3 * ld), -7);
  kernels::rms_norm(x.data(), ld, nullptr, 1e-5F, 3, cols, y.data(), ld, nullptr);
  kernels::gelu(y.data(), ld, 3, cols, y.data(), ld, nullptr);
  kernels::softmax(y.data(), ld, 3, cols, nullptr);
  for (std::size_t i = 0; i < y.size(); ++i) {
    EXPECT_EQ(y[i] == -7, static_cast<int64_t>(i) % ld >= cols);
  }
}

}  // namespace
}  // namespace quire
