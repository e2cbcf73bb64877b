// SPDX-License-Identifier: Apache-2.0
// PrefixIndex with hashes so short that they collide all the time.
#include <gtest/gtest.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "tests/prefix/index_texts.h"

namespace quire {
namespace {

using testing::find;
using testing::kSpace;
using testing::make_index;
using testing::path_of;
using testing::store;

TEST(PrefixIndex, CollisionsAreMissesNeverWrong) {
  // Eight bits of hash: nearly every insertion meets a block of another text with its key.
  PrefixIndex index = make_index(2, 0, /*hash_bits=*/8);
  std::mt19937 random(5);
  for (int step = 0; step < 2000; ++step) {
    TokenIds tokens;
    for (std::size_t i = 0; i < 6; ++i) tokens.push_back(static_cast<TokenId>(random() % 20));
    const IndexMatch match = find(index, tokens);
    std::size_t at = 0;
    for (const BlockId block : match.blocks) {
      for (const TokenId token : index.tokens(block)) ASSERT_EQ(token, tokens[at++]);
    }
    store(index, tokens, 2);
  }
  EXPECT_GT(index.stats().collisions, 100);
  EXPECT_LE(index.stats().blocks, 256);
}

TEST(PrefixIndex, SpacesAreApartThoughTheirShortKeysAreEqual) {
  PrefixIndex index = make_index(2, 0, /*hash_bits=*/32);
  const BlockKey one{7, 1};
  const BlockKey two{7 | std::uint64_t{1} << 40, 0};
  const TokenIds tokens = {1, 2, 3, 4, 5};
  store(index, tokens, 2, one);
  EXPECT_EQ(find(index, tokens, two).tokens, 0);
  EXPECT_EQ(index.peek(two, tokens, 5), 0);
  store(index, {1, 2, 3, 9}, 2, two);
  EXPECT_EQ(find(index, tokens, two).tokens, 3);
  EXPECT_EQ(find(index, tokens, one).tokens, 5);
  index.clear();
  EXPECT_EQ(index.stats().blocks, 0);
}

class PrefixIndexBits : public ::testing::TestWithParam<int> {};

// Eight spaces whose short keys are equal, with texts that are equal too, while blocks come and go.
TEST_P(PrefixIndexBits, NoTextCrossesSpaces) {
  PrefixIndex index = make_index(2, /*capacity=*/30, GetParam());
  std::mt19937 random(static_cast<unsigned>(GetParam()));
  std::map<std::uint64_t, std::vector<TokenIds>> texts;
  for (int step = 0; step < 3000; ++step) {
    const BlockKey space{std::uint64_t{random() % 8} << 20, 5};
    TokenIds tokens(1 + random() % 7);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random() % 3);
    std::int64_t longest = 0;
    for (const TokenIds& known : texts[space.low]) {
      const auto end = std::mismatch(known.begin(), known.end(), tokens.begin(), tokens.end());
      longest = std::max<std::int64_t>(longest, end.first - known.begin());
    }
    const IndexMatch match = find(index, tokens, space);
    ASSERT_LE(match.tokens, longest) << step;
    ASSERT_EQ(index.peek(space, tokens, std::ssize(tokens)), match.tokens) << step;
    const BlockId whole = match.blocks.empty() ? kNoBlock : match.blocks.back();
    const TokenIds path = path_of(index, match.partial != kNoBlock ? match.partial : whole);
    ASSERT_GE(std::ssize(path), match.tokens) << step;
    ASSERT_TRUE(std::equal(tokens.begin(), tokens.begin() + match.tokens, path.begin())) << step;
    store(index, tokens, 2, space);
    texts[space.low].push_back(tokens);
    if (random() % 50 == 0) index.clear();
  }
  index.clear();
  EXPECT_EQ(index.stats().blocks, 0);
}

INSTANTIATE_TEST_SUITE_P(Bits, PrefixIndexBits, ::testing::Values(1, 4, 8, 16, 128));

}  // namespace
}  // namespace quire
