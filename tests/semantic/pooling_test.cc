// SPDX-License-Identifier: Apache-2.0
#include "semantic/pooling.h"

#include <gmock/gmock.h>

#include <vector>

namespace quire {
namespace {

using ::testing::ElementsAre;
using ::testing::FloatEq;

// Three tokens of two dimensions.
const std::vector<float> kStates = {1, -4, 3, -2, 8, -6};

std::vector<float> pooled(Pooling pooling) {
  std::vector<float> out(2, 99.0F);
  pool_states(pooling, kStates, out);
  return out;
}

TEST(Pooling, IsWhatItsNameSays) {
  EXPECT_THAT(pooled(Pooling::kCls), ElementsAre(1, -4));
  EXPECT_THAT(pooled(Pooling::kLastToken), ElementsAre(8, -6));
  EXPECT_THAT(pooled(Pooling::kMax), ElementsAre(8, -2));
  EXPECT_THAT(pooled(Pooling::kMean), ElementsAre(FloatEq(4), FloatEq(-4)));
  EXPECT_THAT(pooled(Pooling::kMeanSqrtLen),
              ElementsAre(FloatEq(12 / 1.7320508F), FloatEq(-12 / 1.7320508F)));
  EXPECT_THAT(pooled(Pooling::kWeightedMean), ElementsAre(FloatEq(31 / 6.0F), FloatEq(-26 / 6.0F)));
}

TEST(Pooling, UnitLengthLeavesZerosAlone) {
  std::vector<float> vector = {3, 0, -4};
  scale_to_unit(vector);
  EXPECT_THAT(vector, ElementsAre(FloatEq(0.6F), 0, FloatEq(-0.8F)));
  std::vector<float> zeros(3);
  scale_to_unit(zeros);
  EXPECT_THAT(zeros, ElementsAre(0, 0, 0));
  std::vector<float> tiny = {3e-30F, 4e-30F};  // whose squares are no floats
  scale_to_unit(tiny);
  EXPECT_THAT(tiny, ElementsAre(FloatEq(0.6F), FloatEq(0.8F)));
}

}  // namespace
}  // namespace quire
