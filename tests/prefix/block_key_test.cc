// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/prefix_index.h>

namespace quire {
namespace {

const BlockKey kSpace{1, 2};

TEST(BlockKey, DependsOnParentSpaceAndEveryToken) {
  const TokenIds tokens = {1, 2, 3, 4};
  const BlockKey key = block_key(kSpace, kSpace, tokens);
  EXPECT_EQ(key, block_key(kSpace, kSpace, tokens));
  EXPECT_NE(key, block_key(key, kSpace, tokens));
  EXPECT_NE(key, block_key(kSpace, BlockKey{1, 3}, tokens));
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    TokenIds other = tokens;
    other[i] ^= 1;
    EXPECT_NE(key, block_key(kSpace, kSpace, other)) << i;
  }
}

TEST(BlockKey, LengthCounts) {
  const TokenIds tokens = {0, 0, 0, 0};
  EXPECT_NE(block_key(kSpace, kSpace, std::span(tokens).first(2)),
            block_key(kSpace, kSpace, std::span(tokens).first(3)));
}

TEST(BlockKey, LongBlocksHashLikeShortOnes) {
  TokenIds tokens(200);
  for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<TokenId>(i * 7);
  const BlockKey key = block_key(kSpace, kSpace, tokens);
  tokens.back() += 1;
  EXPECT_NE(key, block_key(kSpace, kSpace, tokens));
}

}  // namespace
}  // namespace quire
