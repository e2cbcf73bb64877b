// SPDX-License-Identifier: Apache-2.0
#include "semantic/vector_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "semantic/pooling.h"

namespace quire {
namespace {

class Vectors {
 public:
  explicit Vectors(std::size_t dimension) : dimension_(dimension) {}

  // Near copies of few directions: many scores within an 8-bit code's error of each other.
  std::vector<float> next() {
    std::vector<float> unit(dimension_);
    std::normal_distribution<float> normal;
    std::minstd_rand direction(1 + random_() % 3);
    const float spread = random_() % 2 == 0 ? 0.01F : 1.0F;
    for (float& value : unit) value = normal(direction) + spread * normal(random_);
    scale_to_unit(unit);
    return unit;
  }

  unsigned below(std::size_t most) { return static_cast<unsigned>(random_() % most); }

 private:
  std::size_t dimension_;
  std::minstd_rand random_{5};
};

std::vector<std::size_t> naive(const std::vector<std::vector<float>>& rows,
                               const std::vector<float>& asked, std::size_t count) {
  std::vector<std::pair<double, std::size_t>> scores;
  for (std::size_t row = 0; row < rows.size(); ++row) {
    double dot = 0;
    for (std::size_t i = 0; i < asked.size(); ++i) {
      dot += static_cast<double>(rows[row][i]) * static_cast<double>(asked[i]);
    }
    scores.emplace_back(-dot, row);
  }
  std::ranges::sort(scores);
  std::vector<std::size_t> nearest;
  for (std::size_t i = 0; i < std::min(count, scores.size()); ++i) {
    nearest.push_back(scores[i].second);
  }
  return nearest;
}

TEST(VectorTable, FindsWhatAPlainScanFindsWhileRowsComeAndGo) {
  for (const std::size_t dimension : {1, 7, 64, 384}) {
    Vectors vectors(dimension);
    VectorTable table(dimension);
    std::vector<std::vector<float>> rows;
    for (int step = 0; step < 600; ++step) {
      if (rows.empty() || vectors.below(3) != 0) {
        rows.push_back(vectors.next());
        table.add(rows.back());
      } else {
        const std::size_t row = vectors.below(rows.size());
        table.remove(row);
        rows[row] = rows.back();
        rows.pop_back();
      }
      ASSERT_EQ(table.rows(), rows.size());
      if (step % 10 != 0) continue;
      const std::vector<float> asked = vectors.next();
      const auto found = table.nearest(asked, 8);
      const auto expected = naive(rows, asked, 8);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) {
        // Equal to single precision: either row will do.
        double dot = 0;
        for (std::size_t d = 0; d < dimension; ++d) {
          dot += static_cast<double>(rows[expected[i]][d]) * static_cast<double>(asked[d]);
        }
        EXPECT_NEAR(found[i].score, dot, 2e-6) << dimension << ' ' << step << ' ' << i;
      }
    }
    while (table.rows() > 0) table.remove(0);
    EXPECT_EQ(table.bytes(), 0U);
    EXPECT_TRUE(table.nearest(vectors.next(), 8).empty());
  }
}

TEST(VectorTable, TakesVectorsOfZerosAndEqualOnes) {
  VectorTable table(3);
  const std::vector<float> zeros(3);
  const std::vector<float> unit = {0, 1, 0};
  for (int i = 0; i < 20; ++i) table.add(i % 2 == 0 ? zeros : unit);
  const auto found = table.nearest(unit, 4);
  ASSERT_EQ(found.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(found[i].row, 2 * i + 1);
    EXPECT_EQ(found[i].score, 1);
  }
  EXPECT_EQ(table.nearest(zeros, 1).at(0).score, 0);
}

}  // namespace
}  // namespace quire
