// SPDX-License-Identifier: Apache-2.0
#include "prompt/common_prefix.h"

#include <gtest/gtest.h>

namespace quire {
namespace {

void expect(const TokenIds& held, const TokenIds& wanted, std::int64_t most, std::int64_t tokens,
            MissReason reason) {
  const CommonPrefix common = common_prefix(held, wanted, most);
  EXPECT_EQ(common.tokens, tokens);
  EXPECT_EQ(common.why.reason, reason);
  if (reason == MissReason::kNone) {
    EXPECT_EQ(common.why.at, std::nullopt);
  } else {
    EXPECT_EQ(common.why.at, tokens);
  }
}

TEST(CommonPrefix, SaysWhyItIsNoMore) {
  expect({}, {1, 2}, 1, 0, MissReason::kCold);
  expect({1, 2}, {1, 2, 3, 4}, 3, 2, MissReason::kEndOfStored);
  expect({1, 9}, {1, 2, 3}, 2, 1, MissReason::kDiverged);
  expect({9}, {1, 2, 3}, 2, 0, MissReason::kDiverged);
}

TEST(CommonPrefix, NothingIsMissedBeyondTheMost) {
  expect({1, 2, 3}, {1, 2, 3}, 2, 2, MissReason::kNone);
  expect({1, 2, 3}, {1, 2, 3}, 3, 3, MissReason::kNone);
  expect({1, 2, 3, 4}, {1, 2, 3}, 2, 2, MissReason::kNone);
  expect({1, 2, 9}, {1, 2, 3}, 2, 2, MissReason::kNone);
  expect({}, {1}, 0, 0, MissReason::kNone);
}

TEST(CommonPrefix, NamesBothTokens) {
  const CommonPrefix common = common_prefix(TokenIds{1, 9}, TokenIds{1, 2, 3}, 2);
  EXPECT_EQ(common.why.had, 9);
  EXPECT_EQ(common.why.got, 2);
}

}  // namespace
}  // namespace quire
