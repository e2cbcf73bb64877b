// SPDX-License-Identifier: Apache-2.0
// Attention over whole texts against the formula in double, for every shape of its tiles.
#include "kernels/encoder_attention.h"

#include <gtest/gtest.h>
#include <quire/cpu.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace quire::kernels {
namespace {

using std::int64_t;

struct Case {
  std::vector<int64_t> lengths;
  int64_t heads;
  int64_t dims;
  bool biased;
};

std::vector<float> random_floats(int64_t count, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal;
  std::vector<float> values(static_cast<std::size_t>(count));
  for (float& value : values) value = normal(generator);
  return values;
}

class Problem {
 public:
  explicit Problem(const Case& from) : case_(from) {
    for (const int64_t length : from.lengths) {
      ends_.push_back((ends_.empty() ? 0 : ends_.back()) + length);
      longest_ = std::max(longest_, length);
    }
    qkv_ = random_floats(ends_.back() * 3 * width(), 1);
    bias_ = random_floats(from.heads * (2 * longest_ - 1), 2);
  }

  // Texts [first, last).
  std::vector<float> run(std::size_t first, std::size_t last, ThreadPool* pool) const {
    const int64_t before = first == 0 ? 0 : ends_[first - 1];
    std::vector<int64_t> ends(ends_.begin() + static_cast<std::ptrdiff_t>(first),
                              ends_.begin() + static_cast<std::ptrdiff_t>(last));
    for (int64_t& end : ends) end -= before;
    std::vector<float> out(static_cast<std::size_t>(ends.back() * width()), -1.0F);
    attend_to_all({.ends = ends,
                   .heads = case_.heads,
                   .head_dim = case_.dims,
                   .qkv = qkv_.data() + before * 3 * width(),
                   .qkv_stride = 3 * width(),
                   .scale = scale(),
                   .bias = case_.biased ? bias_.data() + longest_ - 1 : nullptr,
                   .bias_stride = 2 * longest_ - 1,
                   .out = out.data(),
                   .out_stride = width()},
                  pool);
    return out;
  }

  // Row `row` of text `text`, head `head`, in double.
  std::vector<double> expected(std::size_t text, int64_t row, int64_t head) const {
    const int64_t first = text == 0 ? 0 : ends_[text - 1];
    const int64_t tokens = ends_[text] - first;
    std::vector<double> weights;
    double total = 0;
    for (int64_t j = 0; j < tokens; ++j) {
      double score = 0;
      for (int64_t d = 0; d < case_.dims; ++d) {
        score += at(first + row, 0, head, d) * at(first + j, 1, head, d);
      }
      score *= static_cast<double>(scale());
      if (case_.biased) {
        const int64_t index = head * (2 * longest_ - 1) + longest_ - 1 + j - row;
        score += static_cast<double>(bias_[static_cast<std::size_t>(index)]);
      }
      weights.push_back(std::exp(score));
      total += weights.back();
    }
    std::vector<double> out(static_cast<std::size_t>(case_.dims));
    for (int64_t j = 0; j < tokens; ++j) {
      for (int64_t d = 0; d < case_.dims; ++d) {
        out[static_cast<std::size_t>(d)] +=
            weights[static_cast<std::size_t>(j)] / total * at(first + j, 2, head, d);
      }
    }
    return out;
  }

  int64_t width() const { return case_.heads * case_.dims; }
  const std::vector<int64_t>& ends() const { return ends_; }

 private:
  float scale() const { return 1 / std::sqrt(static_cast<float>(case_.dims)); }
  double at(int64_t row, int64_t part, int64_t head, int64_t d) const {
    return static_cast<double>(
        qkv_[static_cast<std::size_t>(((row * 3 + part) * case_.heads + head) * case_.dims + d)]);
  }

  Case case_;
  std::vector<int64_t> ends_;
  int64_t longest_ = 0;
  std::vector<float> qkv_;
  std::vector<float> bias_;
};

const Case kCases[] = {{{1}, 1, 1, false},
                       {{3, 17, 1}, 3, 5, true},
                       {{16, 33}, 2, 16, false},
                       {{64, 65, 130}, 1, 20, true},
                       {{300}, 2, 32, true}};

void check(const Problem& problem, const Case& from) {
  const std::vector<float> out = problem.run(0, from.lengths.size(), nullptr);
  for (std::size_t text = 0; text < from.lengths.size(); ++text) {
    const int64_t first = problem.ends()[text] - from.lengths[text];
    for (int64_t row = 0; row < from.lengths[text]; ++row) {
      for (int64_t head = 0; head < from.heads; ++head) {
        const auto expected = problem.expected(text, row, head);
        for (int64_t d = 0; d < from.dims; ++d) {
          const int64_t index = (first + row) * problem.width() + head * from.dims + d;
          ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(index)]),
                      expected[static_cast<std::size_t>(d)], 3e-6)
              << text << ' ' << row << ' ' << head << ' ' << d;
        }
      }
    }
  }
}

TEST(EncoderAttention, EqualsTheFormula) {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > detected_isa()) continue;
    SCOPED_TRACE(isa_name(isa));
    set_isa_limit(isa);
    for (const Case& from : kCases) check(Problem(from), from);
    set_isa_limit(Isa::kAvx512);
  }
}

TEST(EncoderAttention, ATextDoesNotDependOnOthersNorOnThreads) {
  ThreadPool pool(3);
  for (const Case& from : kCases) {
    const Problem problem(from);
    const std::vector<float> all = problem.run(0, from.lengths.size(), &pool);
    std::vector<float> joined;
    for (std::size_t text = 0; text < from.lengths.size(); ++text) {
      const std::vector<float> alone = problem.run(text, text + 1, nullptr);
      joined.insert(joined.end(), alone.begin(), alone.end());
    }
    EXPECT_EQ(joined, all);
  }
}

}  // namespace
}  // namespace quire::kernels
