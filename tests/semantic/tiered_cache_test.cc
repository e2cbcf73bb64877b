// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/tiered_cache.h>

#include <list>
#include <map>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace quire {
namespace {

using Texts = TieredCache<std::string, std::string>;

std::string key(int i) { return "key-" + std::to_string(i); }

TEST(TieredCache, PromotesFromTheSecondLevel) {
  Texts cache({.l1_entries = 100, .l2_entries = 1000});
  for (int i = 0; i < 150; ++i) cache.put(key(i), "value-" + std::to_string(i));
  EXPECT_EQ(cache.l1_size(), 100U);
  EXPECT_EQ(cache.l2_size(), 50U);
  EXPECT_EQ(cache.get(key(100)), "value-100");
  EXPECT_EQ(cache.stats().l1_hits, 1);
  EXPECT_EQ(cache.stats().l2_hits, 0);
  EXPECT_EQ(cache.get(key(20)), "value-20");
  EXPECT_EQ(cache.stats().l2_hits, 1);
  EXPECT_EQ(cache.stats().promotions, 1);
  EXPECT_EQ(cache.l1_size(), 100U);
  EXPECT_EQ(cache.l2_size(), 50U);
  // It is at level 1 now, and the oldest of level 1 at level 2.
  cache.get(key(20));
  EXPECT_EQ(cache.stats().l1_hits, 2);
  cache.get(key(50));
  EXPECT_EQ(cache.stats().l2_hits, 2);
  EXPECT_EQ(cache.get(key(150)), std::nullopt);
  const TieredCacheStats stats = cache.stats();
  EXPECT_EQ(stats.misses, 1);
  EXPECT_EQ(stats.demotions, 52);
  EXPECT_EQ(stats.evictions, 0);
}

TEST(TieredCache, ReplacingKeepsTheOthers) {
  Texts cache({.l1_entries = 1, .l2_entries = 1});
  cache.put("a", "1");
  cache.put("b", "2");
  cache.put("b", "3");
  EXPECT_EQ(cache.stats().evictions, 0);
  cache.put("a", "4");
  EXPECT_EQ(cache.get("b"), "3");
  EXPECT_EQ(cache.get("a"), "4");
  cache.put("c", "5");
  EXPECT_EQ(cache.get("b"), std::nullopt);
  EXPECT_EQ(cache.stats().evictions, 1);
  EXPECT_TRUE(cache.erase("a"));
  EXPECT_FALSE(cache.erase("a"));
  cache.clear();
  EXPECT_EQ(cache.l1_size() + cache.l2_size(), 0U);
}

TEST(TieredCache, WithoutASecondLevelTheOldestGoes) {
  Texts cache({.l1_entries = 2, .l2_entries = 0});
  for (const char* name : {"a", "b", "c"}) cache.put(name, name);
  EXPECT_EQ(cache.get("a"), std::nullopt);
  EXPECT_EQ(cache.l2_size(), 0U);
  EXPECT_EQ(cache.stats().evictions, 1);
  EXPECT_THROW(Texts({.l1_entries = 0}), Error);
}

struct Shared : CacheLevel<std::string, std::string> {
  std::optional<std::string> get(const std::string& k) override {
    if (down) throw std::runtime_error("down");
    const auto found = values.find(k);
    return found == values.end() ? std::nullopt : std::optional(found->second);
  }
  void put(const std::string& k, const std::string& value) override {
    if (down) throw std::runtime_error("down");
    values[k] = value;
  }
  void erase(const std::string& k) override {
    if (down) throw std::runtime_error("down");
    values.erase(k);
  }
  std::map<std::string, std::string> values;
  bool down = false;
};

TEST(TieredCache, AThirdLevelIsSharedAndMayFail) {
  auto shared = std::make_shared<Shared>();
  Texts here({.l1_entries = 1, .l2_entries = 1}, shared);
  Texts there({.l1_entries = 1, .l2_entries = 1}, shared);
  here.put("a", "1");
  EXPECT_EQ(there.get("a"), "1");
  EXPECT_EQ(there.stats().l3_hits, 1);
  EXPECT_EQ(there.get("a"), "1");
  EXPECT_EQ(there.stats().l1_hits, 1);
  shared->down = true;
  EXPECT_EQ(there.get("b"), std::nullopt);
  there.put("b", "2");
  EXPECT_EQ(there.get("b"), "2");
  EXPECT_TRUE(there.erase("b"));
  EXPECT_EQ(there.stats().l3_failures, 3);
  shared->down = false;
  EXPECT_EQ(here.get("b"), std::nullopt);
}

// Two plain lists, moved about as the contract says.
TEST(TieredCache, EqualsTwoListsOverRandomOperations) {
  TieredCache<int, int> cache({.l1_entries = 3, .l2_entries = 4});
  std::list<std::pair<int, int>> first;
  std::list<std::pair<int, int>> second;
  const auto take = [](auto& list, int k) -> std::optional<int> {
    for (auto at = list.begin(); at != list.end(); ++at) {
      if (at->first != k) continue;
      const int value = at->second;
      list.erase(at);
      return value;
    }
    return std::nullopt;
  };
  std::minstd_rand random(3);
  for (int i = 0; i < 20000; ++i) {
    const int k = static_cast<int>(random() % 12);
    std::optional<int> expected = take(first, k);
    if (!expected) expected = take(second, k);
    if (random() % 2 == 0) {
      cache.put(k, i);
      expected = i;
    } else {
      ASSERT_EQ(cache.get(k), expected) << i;
    }
    if (expected) first.emplace_front(k, *expected);
    while (first.size() > 3) second.splice(second.begin(), first, std::prev(first.end()));
    while (second.size() > 4) second.pop_back();
    ASSERT_EQ(cache.l1_size(), first.size());
    ASSERT_EQ(cache.l2_size(), second.size());
  }
}

TEST(TieredCache, ServesManyThreads) {
  TieredCache<int, int> cache({.l1_entries = 10, .l2_entries = 20});
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&cache, t] {
      std::minstd_rand random(t + 1);
      for (int i = 0; i < 10000; ++i) {
        const int k = static_cast<int>(random() % 50);
        if (i % 3 == 0) cache.put(k, 2 * k);
        if (const auto value = cache.get(k)) {
          EXPECT_EQ(*value, 2 * k);
        }
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(cache.l1_size(), 10U);
  EXPECT_EQ(cache.l2_size(), 20U);
}

}  // namespace
}  // namespace quire
