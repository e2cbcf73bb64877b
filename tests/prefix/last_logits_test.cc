// SPDX-License-Identifier: Apache-2.0
#include "prefix/last_logits.h"

#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>

#include "tests/prefix/server.h"

namespace quire {
namespace {

using testing::ramp;
using testing::Server;

constexpr BlockKey kSpace{1, 2};

TEST(LastLogits, AreFoundForTheirTextAlone) {
  LastLogits logits(1 << 20);
  EXPECT_EQ(logits.find(kSpace, ramp(5)), nullptr);
  logits.keep(kSpace, ramp(5), {1, 2, 3});
  ASSERT_NE(logits.find(kSpace, ramp(5)), nullptr);
  EXPECT_EQ(*logits.find(kSpace, ramp(5)), std::vector<float>({1, 2, 3}));
  EXPECT_EQ(logits.find(kSpace, ramp(4)), nullptr);
  EXPECT_EQ(logits.find(kSpace, ramp(6)), nullptr);
  EXPECT_EQ(logits.find({1, 3}, ramp(5)), nullptr);
  logits.keep(kSpace, ramp(5), {4});
  EXPECT_EQ(*logits.find(kSpace, ramp(5)), std::vector<float>({4}));
  logits.clear();
  EXPECT_EQ(logits.bytes(), 0);
  EXPECT_EQ(logits.find(kSpace, ramp(5)), nullptr);
}

TEST(LastLogits, StayWithinTheirBytesAndTheLeastRecentlyUsedGo) {
  LastLogits logits(1 << 20);
  const std::vector<float> row(1000);
  logits.keep(kSpace, ramp(5, 0), row);
  const std::int64_t one = logits.bytes();
  LastLogits three(3 * one);
  for (TokenId i = 0; i < 3; ++i) three.keep(kSpace, ramp(5, 10 * i), row);
  const LastLogits::Row held = three.find(kSpace, ramp(5, 0));
  ASSERT_NE(held, nullptr);
  three.keep(kSpace, ramp(5, 30), row);
  EXPECT_EQ(three.bytes(), 3 * one);
  EXPECT_NE(three.find(kSpace, ramp(5, 0)), nullptr) << "used";
  EXPECT_EQ(three.find(kSpace, ramp(5, 10)), nullptr);
  three.keep(kSpace, ramp(5, 40), std::vector<float>(4000));
  EXPECT_EQ(three.find(kSpace, ramp(5, 40)), nullptr) << "larger than all";
  EXPECT_EQ(three.bytes(), 3 * one);
  three.clear();
  EXPECT_EQ(held->size(), 1000u) << "what is held stays";
}

TEST(LastLogits, ANamespaceIsForgottenAlone) {
  LastLogits logits(1 << 20);
  logits.keep(kSpace, ramp(5), {1});
  const std::int64_t one = logits.bytes();
  logits.keep(kSpace, ramp(6), {2});
  logits.keep({1, 3}, ramp(5), {3});
  logits.forget(kSpace);
  EXPECT_EQ(logits.find(kSpace, ramp(5)), nullptr);
  EXPECT_EQ(logits.find(kSpace, ramp(6)), nullptr);
  EXPECT_NE(logits.find({1, 3}, ramp(5)), nullptr);
  EXPECT_EQ(logits.bytes(), one);
}

// All tokens of a text are reused only with its logits, and only while its pages are there.
TEST(LastLogits, TheWholeTextIsReusedWithThem) {
  Server server({.block_size = 16, .logits_bytes = 1 << 20});
  for (const std::int64_t length : {1, 15, 16, 17, 32, 33}) {
    const TokenIds text = ramp(length, static_cast<TokenId>(100 * length));
    server.serve(text);
    const auto whole = [&](const TokenIds& tokens) {
      return server.cache.lookup_whole(server.model, tokens);
    };
    EXPECT_EQ(whole(text).reused_tokens(), length - 1);
    EXPECT_TRUE(whole(text).logits().empty());
    whole(text).store_logits(text, {7, 8, 9});
    const PrefixMatch match = whole(text);
    EXPECT_EQ(match.reused_tokens(), length);
    EXPECT_EQ(match.to_prefill(), 0);
    EXPECT_EQ(match.why_not_more().reason, MissReason::kNone);
    EXPECT_TRUE(std::ranges::equal(match.logits(), std::vector<float>({7, 8, 9})));
    EXPECT_EQ(match.make_cache()->length(), length);
    EXPECT_EQ(server.cache.lookup(server.model, text).reused_tokens(), length - 1);
    TokenIds longer = text;
    longer.push_back(5);
    EXPECT_EQ(whole(longer).reused_tokens(), length);
    EXPECT_TRUE(whole(longer).logits().empty()) << "of another text";
  }
  EXPECT_EQ(server.cache.stats().whole_prompts, 6);
  EXPECT_GT(server.cache.stats().logits_bytes, 0);
  server.cache.clear();
  EXPECT_EQ(server.cache.stats().logits_bytes, 0);
}

TEST(LastLogits, AreOfNoUseWithoutThePages) {
  KvSpec spec = testing::make_spec();
  Server server(
      {.bytes = 2 * 16 * spec.bytes_per_token(), .block_size = 16, .logits_bytes = 1 << 20});
  const TokenIds text = ramp(30);
  server.serve(text);
  server.cache.lookup_whole(server.model, text).store_logits(text, {1});
  server.serve(ramp(30, 500));  // takes the room
  const PrefixMatch match = server.cache.lookup_whole(server.model, text);
  EXPECT_LT(match.reused_tokens(), 30);
  EXPECT_TRUE(match.logits().empty());
}

TEST(LastLogits, NoneAreKeptUnlessAskedFor) {
  Server server({});
  server.serve(ramp(10));
  server.cache.lookup_whole(server.model, ramp(10)).store_logits(ramp(10), {1});
  EXPECT_EQ(server.cache.lookup_whole(server.model, ramp(10)).reused_tokens(), 9);
  EXPECT_THROW(PrefixCache({.logits_bytes = -1}), Error);
}

}  // namespace
}  // namespace quire
