// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/prompt_cache.h>
#include <quire/sliding_cache.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "prompt/marked_prefixes.h"
#include "tests/kv/tokens.h"

namespace quire {
namespace {

using std::chrono::milliseconds;
using testing::append;
using testing::History;

KvSpec spec() {
  KvSpec spec;
  spec.layers = {{1, 8, 0}};
  return spec;
}

PrefixModel model(const std::string& name = "weights") { return {name, spec(), "words"}; }

TokenIds ramp(std::int64_t count, TokenId first = 0) {
  TokenIds ids;
  for (std::int64_t i = 0; i < count; ++i) ids.push_back(first + static_cast<TokenId>(i));
  return ids;
}

Snapshot snapshot_of(const TokenIds& ids, std::unique_ptr<KvCache> cache = nullptr,
                     const PrefixScope& scope = {}, const std::string& name = "weights") {
  if (!cache) cache = std::make_unique<DynamicCache>(spec(), PagePoolOptions{.block_size = 16});
  append(*cache, spec(), History(ids.begin(), ids.end()));
  return Snapshot(SnapshotParts{.model = model(name),
                                .scope = scope,
                                .ids = ids,
                                .logits = {1, 2},
                                .cache = std::move(cache)});
}

std::string name_of(int i) { return "prompt " + std::to_string(i); }

TEST(PromptCache, KeepsTheLastHundred) {
  PromptCache cache({.max_entries = 100});
  for (int i = 0; i < 150; ++i) {
    EXPECT_TRUE(cache.put(name_of(i), snapshot_of({i, i + 1})));
    cache.get(name_of(0));  // the oldest goes, used or not
  }
  EXPECT_EQ(cache.stats().entries, 100);
  EXPECT_EQ(cache.stats().puts, 150);
  EXPECT_EQ(cache.stats().evicted, 50);
  for (int i = 0; i < 150; ++i) EXPECT_EQ(cache.contains(name_of(i)), i >= 50) << i;
  const Snapshot kept = cache.get(name_of(70));
  ASSERT_TRUE(kept);
  EXPECT_EQ(kept.ids()[0], 70);
  EXPECT_FALSE(cache.get(name_of(3)));
  cache.clear();
  EXPECT_EQ(cache.stats().entries, 0);
  EXPECT_EQ(cache.stats().bytes, 0);
  EXPECT_FALSE(cache.contains(name_of(70)));
  EXPECT_EQ(kept.fork(2)->length(), 2) << "it lives on with whoever holds it";
}

TEST(PromptCache, MayKeepTheLastUsed) {
  PromptCache cache(
      {.max_entries = 3, .eviction = PromptCacheOptions::Eviction::kLeastRecentlyUsed});
  for (int i = 0; i < 3; ++i) cache.put(name_of(i), snapshot_of({i, 1}));
  cache.get(name_of(0));
  cache.contains(name_of(1));  // no use
  cache.put(name_of(3), snapshot_of({3, 1}));
  EXPECT_TRUE(cache.contains(name_of(0)));
  EXPECT_FALSE(cache.contains(name_of(1)));
}

TEST(PromptCache, StaysWithinItsBytes) {
  const std::int64_t page = 16 * spec().bytes_per_token();
  PromptCache cache({.bytes = 3 * page});
  EXPECT_TRUE(cache.put("a", snapshot_of(ramp(16))));
  EXPECT_TRUE(cache.put("b", snapshot_of(ramp(17))));
  EXPECT_EQ(cache.stats().bytes, 3 * page);
  EXPECT_TRUE(cache.put("c", snapshot_of(ramp(3))));
  EXPECT_FALSE(cache.contains("a"));
  EXPECT_EQ(cache.stats().bytes, 3 * page);
  EXPECT_TRUE(cache.put("b", snapshot_of(ramp(3)))) << "in place of the old one";
  EXPECT_EQ(cache.stats().bytes, 2 * page);
  EXPECT_FALSE(cache.put("b", snapshot_of(ramp(70))));
  EXPECT_FALSE(cache.contains("b")) << "the old one is not the new one";
  EXPECT_TRUE(cache.contains("c"));
  EXPECT_EQ(cache.stats().rejected, 1);
  EXPECT_EQ(cache.stats().evicted, 1);
}

TEST(PromptCache, ForgetsInTime) {
  milliseconds now{1000};
  PromptCache cache({.ttl = milliseconds(100), .now = [&] { return now; }});
  cache.put("a", snapshot_of({1, 2}));
  cache.put("b", snapshot_of({1, 2, 3, 4, 5}), milliseconds(300));
  now += milliseconds(99);
  EXPECT_TRUE(cache.get("a"));
  now += milliseconds(1);
  EXPECT_FALSE(cache.contains("a"));
  EXPECT_TRUE(cache.contains("b"));
  EXPECT_EQ(cache.stats().entries, 1);
  EXPECT_EQ(cache.stats().expired, 1);
  now += milliseconds(200);
  EXPECT_FALSE(cache.lookup(model(), ramp(5, 1)).snapshot);
  EXPECT_EQ(cache.stats().bytes, 0);
}

TEST(PromptCache, CountsHits) {
  PromptCache cache;
  cache.put("a", snapshot_of(ramp(10)));
  cache.put("b", snapshot_of(ramp(10, 50)));
  for (int i = 0; i < 3; ++i) cache.get("a");
  cache.get("c");
  cache.lookup(model(), ramp(7, 50));
  cache.lookup(model(), ramp(7, 80));
  EXPECT_EQ(cache.hits("a"), 3);
  EXPECT_EQ(cache.hits("b"), 1);
  EXPECT_EQ(cache.hits("c"), 0);
  EXPECT_EQ(cache.stats().hits, 4);
  EXPECT_EQ(cache.stats().misses, 2);
  cache.put("a", snapshot_of({1}));
  EXPECT_EQ(cache.hits("a"), 0);
}

TEST(PromptCache, FourTokensInCommonAreAMatch) {
  PromptCache cache;
  cache.put("a", snapshot_of(ramp(10)));
  TokenIds ids = {0, 1, 2, 90, 91};
  PromptMatch match = cache.lookup(model(), ids);
  EXPECT_FALSE(match.snapshot);
  EXPECT_EQ(match.tokens, 0);
  EXPECT_EQ(match.why.reason, MissReason::kBelowMinimum);
  ids = {0, 1, 2, 3, 91};
  match = cache.lookup(model(), ids);
  ASSERT_TRUE(match.snapshot);
  EXPECT_EQ(match.key, "a");
  EXPECT_EQ(match.tokens, 4);
  const auto fork = match.fork();
  EXPECT_EQ(fork->length(), 4);
  const DynamicCache fresh(spec());
  const auto other = fresh.fork();
  append(*other, spec(), History{0, 1, 2, 3});
  EXPECT_EQ(append(*fork, spec(), History{91, 92}), append(*other, spec(), History{91, 92}));
  EXPECT_EQ(cache.lookup(model(), TokenIds{}).why.reason, MissReason::kCold);
}

TEST(PromptCache, TheLongestMatchWins) {
  PromptCache cache({.min_match = 1});
  cache.put("short", snapshot_of(ramp(5)));
  cache.put("long", snapshot_of(ramp(9)));
  cache.put("other", snapshot_of({0, 1, 7}));
  PromptMatch match = cache.lookup(model(), ramp(20));
  EXPECT_EQ(match.key, "long");
  EXPECT_EQ(match.tokens, 9);
  EXPECT_EQ(match.why.reason, MissReason::kEndOfStored);
  match = cache.lookup(model(), TokenIds{0, 1, 7, 8, 9});
  EXPECT_EQ(match.key, "other");
  match = cache.lookup(model(), ramp(9));
  EXPECT_EQ(match.tokens, 9) << "whole: its logits are kept";
  EXPECT_EQ(match.why.reason, MissReason::kNone);
  match = cache.lookup(model(), ramp(7));
  EXPECT_EQ(match.tokens, 6) << "the last token's logits are needed";
}

TEST(PromptCache, WhatCannotBeForkedIsNoMatch) {
  PromptCache cache;
  cache.put("window", snapshot_of(ramp(100), std::make_unique<SlidingCache>(
                                                 spec(), SlidingCacheOptions{.window = 8})));
  EXPECT_FALSE(cache.lookup(model(), ramp(20)).snapshot);
  cache.put("all", snapshot_of(ramp(12)));
  EXPECT_EQ(cache.lookup(model(), ramp(20)).key, "all");
  EXPECT_EQ(cache.lookup(model(), ramp(110)).key, "window");
}

TEST(PromptCache, NothingCrossesModelsAndScopes) {
  PromptCache cache;
  cache.put("a", snapshot_of(ramp(10), nullptr, {.salt = "x"}));
  EXPECT_TRUE(cache.lookup(model(), ramp(10), {.salt = "x"}).snapshot);
  EXPECT_FALSE(cache.lookup(model(), ramp(10)).snapshot);
  EXPECT_FALSE(cache.lookup(model("other"), ramp(10), {.salt = "x"}).snapshot);
}

TEST(PromptCache, KeysFollowFromContent) {
  const std::string key = PromptCache::content_key(snapshot_of(ramp(10)));
  EXPECT_EQ(key, PromptCache::content_key(snapshot_of(ramp(10))));
  EXPECT_NE(key, PromptCache::content_key(snapshot_of(ramp(11))));
  EXPECT_NE(key, PromptCache::content_key(snapshot_of(ramp(10), nullptr, {.salt = "x"})));
  EXPECT_NE(key, PromptCache::content_key(snapshot_of(ramp(10), nullptr, {}, "other")));
}

TEST(PromptCache, MarkedPrefixesAreFoundWhole) {
  milliseconds now{1};
  PromptCache cache({.max_entries = 2, .now = [&] { return now; }});
  MarkedPrefixes::put(cache, snapshot_of(ramp(10)), milliseconds(100));
  const auto longest = [&](std::int64_t n) {
    const Snapshot found = MarkedPrefixes::longest(cache, model(), {}, ramp(n));
    return found ? std::ssize(found.ids()) : 0;
  };
  const auto why = [&](std::int64_t n) {
    return MarkedPrefixes::why_gone(cache, model(), {}, ramp(n));
  };
  EXPECT_EQ(longest(9), 0);
  EXPECT_EQ(longest(10), 10);
  EXPECT_EQ(longest(30), 10);
  MarkedPrefixes::put(cache, snapshot_of(ramp(20)), milliseconds(1000));
  EXPECT_EQ(longest(19), 10);
  EXPECT_EQ(longest(20), 20);
  now += milliseconds(99);
  EXPECT_EQ(longest(19), 10) << "and lives on from here";
  now += milliseconds(99);
  EXPECT_EQ(longest(19), 10);
  now += milliseconds(100);
  EXPECT_EQ(longest(19), 0);
  EXPECT_EQ(why(10), MissReason::kExpired);
  EXPECT_EQ(why(11), MissReason::kCold);
  cache.put("a", snapshot_of(ramp(3)));
  EXPECT_EQ(cache.lookup(model(), ramp(21)).tokens, 20) << "as any other";
  cache.put("b", snapshot_of(ramp(3)));
  EXPECT_EQ(why(20), MissReason::kEvicted);
  MarkedPrefixes::put(cache, snapshot_of(ramp(10)), milliseconds(100));
  EXPECT_EQ(why(10), MissReason::kCold) << "it is there";
}

TEST(PromptCache, RefusesWhatMakesNoSense) {
  EXPECT_THROW(PromptCache({.max_entries = 0}), Error);
  EXPECT_THROW(PromptCache({.min_match = 0}), Error);
  EXPECT_THROW(PromptCache({.ttl = milliseconds(-1)}), Error);
  PromptCache cache;
  EXPECT_THROW(cache.put("a", {}), Error);
  EXPECT_THROW(cache.put("a", snapshot_of({1}), milliseconds(-1)), Error);
  EXPECT_FALSE(cache.remove("a"));
}

TEST(PromptCache, ThreadsShareIt) {
  PromptCache cache({.max_entries = 5});
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        cache.put(name_of(i % 7), snapshot_of(ramp(10, i % 7)));
        if (const PromptMatch match = cache.lookup(model(), ramp(8, (i + t) % 7)); match.snapshot) {
          EXPECT_EQ(match.fork()->length(), match.tokens);
        }
        EXPECT_LE(cache.stats().entries, 5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(cache.stats().puts, 200);
}

}  // namespace
}  // namespace quire
