// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/prefix_index.h>

#include <string>
#include <utility>
#include <vector>

namespace quire {
namespace {

const BlockKey kSpace{1, 2};

// One-token blocks, so that a chain is written as the list of its tokens.
class Cache {
 public:
  Cache(std::string_view policy, std::int64_t capacity)
      : index_(options(policy, capacity, evicted_)) {}

  // A request as the prefix cache makes it: looks up, then stores what was missing.
  std::int64_t request(const TokenIds& chain, int priority = 0) {
    const IndexMatch match = index_.lookup(kSpace, chain, std::ssize(chain));
    BlockId parent = match.blocks.empty() ? kNoBlock : match.blocks.back();
    for (std::size_t i = match.blocks.size(); i < chain.size(); ++i) {
      const auto token = std::span(chain).subspan(i, 1);
      const auto id =
          index_.insert(kSpace, parent, token,
                        {.payload = static_cast<std::uint64_t>(chain[i]), .priority = priority});
      if (!id) break;
      parent = *id;
    }
    return match.tokens;
  }

  std::vector<std::uint64_t> take_evicted() { return std::exchange(evicted_, {}); }

 private:
  static PrefixIndexOptions options(std::string_view policy, std::int64_t capacity,
                                    std::vector<std::uint64_t>& evicted) {
    PrefixIndexOptions options;
    options.block_size = 1;
    options.capacity_blocks = capacity;
    options.policy = make_eviction_policy(policy);
    options.on_evict = [&evicted](const EvictedBlock& block) { evicted.push_back(block.payload); };
    return options;
  }

  std::vector<std::uint64_t> evicted_;
  PrefixIndex index_;
};

using ::testing::ElementsAre;

TEST(Eviction, LruTakesTheTailOfTheOldestChain) {
  Cache cache("lru", 4);
  cache.request({1, 2});
  cache.request({3, 4});
  cache.request({1});  // 2 is now the oldest leaf, though its parent is fresh
  cache.request({5});
  EXPECT_THAT(cache.take_evicted(), ElementsAre(2));
  cache.request({6, 7});
  EXPECT_THAT(cache.take_evicted(), ElementsAre(4, 3));
}

TEST(Eviction, FifoIgnoresUse) {
  Cache cache("fifo", 2);
  cache.request({1});
  cache.request({2});
  cache.request({1});
  cache.request({3});
  EXPECT_THAT(cache.take_evicted(), ElementsAre(1));
}

TEST(Eviction, LfuKeepsWhatIsUsedOften) {
  Cache cache("lfu", 2);
  cache.request({1});
  cache.request({1});
  cache.request({2});
  cache.request({3});
  EXPECT_THAT(cache.take_evicted(), ElementsAre(2));
}

TEST(Eviction, LfuAges) {
  Cache cache("lfu", 2);
  for (int i = 0; i < 3; ++i) cache.request({1});
  for (TokenId once = 10; once < 20; ++once) cache.request({once});
  EXPECT_EQ(cache.request({1}), 0) << "an old favourite has left in the end";
}

TEST(Eviction, SlruProtectsWhatWasUsedTwice) {
  Cache cache("slru", 2);
  cache.request({1});
  cache.request({1});
  for (TokenId once = 10; once < 20; ++once) cache.request({once});
  EXPECT_EQ(cache.request({1}), 1);
}

TEST(Eviction, PriorityOutweighsAnyRank) {
  Cache cache("lru", 2);
  cache.request({1}, /*priority=*/1);
  for (TokenId other = 10; other < 20; ++other) cache.request({other});
  EXPECT_EQ(cache.request({1}), 1);
}

TEST(Eviction, ALowerPriorityIsRejectedWhenFull) {
  Cache cache("lru", 1);
  cache.request({1}, /*priority=*/1);
  cache.request({2});
  EXPECT_EQ(cache.request({1}), 1);
  EXPECT_EQ(cache.request({2}), 0);
}

TEST(Eviction, AChainLongerThanTheCapacityKeepsItsHead) {
  for (const char* policy : {"lru", "fifo", "lfu", "slru", "cost"}) {
    Cache cache(policy, 3);
    cache.request({1, 2, 3, 4, 5});
    EXPECT_EQ(cache.request({1, 2, 3, 4, 5}), 3) << policy;
  }
}

TEST(Eviction, UnknownNameIsAnError) {
  EXPECT_THROW(make_eviction_policy("arc"), Error);
  for (const char* name : {"lru", "fifo", "lfu", "slru", "cost"}) {
    EXPECT_EQ(make_eviction_policy(name)->name(), name);
  }
}

}  // namespace
}  // namespace quire
