// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/prefix/index_texts.h"

namespace quire {
namespace {

using testing::find;
using testing::kOther;
using testing::kSpace;
using testing::make_index;
using testing::path_of;
using testing::store;

TEST(PrefixIndex, FullBlocksThenPartOfTheNext) {
  PrefixIndex index = make_index(4);
  store(index, {1, 2, 3, 4, 5, 6, 7, 8, 9}, 4);
  const IndexMatch match = find(index, {1, 2, 3, 4, 5, 6, 70});
  EXPECT_EQ(match.tokens, 6);
  EXPECT_EQ(match.blocks.size(), 1u);
  EXPECT_EQ(match.partial_tokens, 2);
  EXPECT_EQ(match.reason, MissReason::kDiverged);
  EXPECT_EQ(match.had, 7);
  EXPECT_EQ(match.got, 70);
}

TEST(PrefixIndex, OpenBlocksMatchToo) {
  PrefixIndex index = make_index(4);
  store(index, {1, 2}, 4);
  const IndexMatch match = find(index, {1, 2, 3, 4, 5});
  EXPECT_EQ(match.tokens, 2);
  EXPECT_EQ(match.reason, MissReason::kEndOfStored);
  EXPECT_EQ(find(index, {1}).reason, MissReason::kNone);
}

TEST(PrefixIndex, MaxTokensCutsInsideABlock) {
  PrefixIndex index = make_index(4);
  const TokenIds tokens = {1, 2, 3, 4, 5, 6, 7, 8};
  store(index, tokens, 4);
  for (std::int64_t max = 0; max <= 8; ++max) {
    const IndexMatch match = index.lookup(kSpace, tokens, max);
    EXPECT_EQ(match.tokens, max);
    EXPECT_EQ(static_cast<std::int64_t>(match.blocks.size()), max / 4);
    EXPECT_EQ(match.reason, MissReason::kNone);
  }
}

TEST(PrefixIndex, ColdMeansNothingInCommon) {
  PrefixIndex index = make_index(4);
  EXPECT_EQ(find(index, {1, 2, 3, 4}).reason, MissReason::kCold);
  store(index, {9, 9, 9, 9}, 4);
  EXPECT_EQ(find(index, {1, 2, 3, 4}).reason, MissReason::kCold);
}

TEST(PrefixIndex, SpacesNeverMix) {
  PrefixIndex index = make_index(2);
  const TokenIds tokens = {1, 2, 3, 4, 5};
  store(index, tokens, 2, kSpace);
  EXPECT_EQ(find(index, tokens, kOther).tokens, 0);
  store(index, {1, 2, 7}, 2, kOther);
  EXPECT_EQ(find(index, tokens, kOther).tokens, 2);
  EXPECT_EQ(find(index, tokens, kSpace).tokens, 5);
}

TEST(PrefixIndex, SaysEvicted) {
  PrefixIndex index = make_index(2, 2);
  store(index, {1, 2, 3, 4}, 2);
  find(index, {});
  store(index, {5, 6}, 2);
  const IndexMatch match = find(index, {1, 2, 3, 4});
  EXPECT_EQ(match.tokens, 2);
  EXPECT_EQ(match.reason, MissReason::kEvicted);
}

TEST(PrefixIndex, SaysExpiredAndDropsTheRest) {
  PrefixIndex index = make_index(2);
  store(index, {1, 2, 3, 4, 5}, 2, kSpace, /*expires=*/100);
  EXPECT_EQ(find(index, {1, 2, 3, 4}, kSpace, 99).tokens, 4);
  const IndexMatch match = find(index, {1, 2, 3, 4}, kSpace, 100);
  EXPECT_EQ(match.tokens, 0);
  EXPECT_EQ(match.reason, MissReason::kExpired);
  EXPECT_EQ(index.stats().blocks, 0);
  EXPECT_EQ(index.stats().expirations, 3);
}

TEST(PrefixIndex, AnExpiredOpenBlockIsNoMatch) {
  PrefixIndex index = make_index(4);
  store(index, {1, 2, 3}, 4, kSpace, /*expires=*/100);
  const IndexMatch match = find(index, {1, 2, 3}, kSpace, 100);
  EXPECT_EQ(match.tokens, 0);
  EXPECT_EQ(match.reason, MissReason::kExpired);
}

TEST(PrefixIndex, HeldBlocksOutliveExpiryAndEviction) {
  PrefixIndex index = make_index(2, 2);
  const BlockId last = store(index, {1, 2, 3, 4}, 2, kSpace, /*expires=*/100);
  index.hold(last);
  EXPECT_FALSE(index.evict_one());
  EXPECT_FALSE(index.insert(kSpace, kNoBlock, TokenIds{8, 9}).has_value());
  EXPECT_EQ(index.stats().rejections, 1);
  find(index, {1, 2, 3, 4}, kSpace, 200);
  EXPECT_EQ(index.tokens(last).size(), 2u);
  index.release(last);
  find(index, {1, 2, 3, 4}, kSpace, 200);
  EXPECT_EQ(index.stats().blocks, 0);
}

TEST(PrefixIndex, InsertingAgainProlongsALife) {
  PrefixIndex index = make_index(2);
  const TokenIds tokens = {1, 2, 3, 4, 5};
  const BlockId last = store(index, tokens, 2, kSpace, /*expires=*/100);
  index.hold(last);
  EXPECT_EQ(find(index, tokens, kSpace, 150).tokens, 0);
  EXPECT_EQ(store(index, tokens, 2, kSpace, /*expires=*/200), last);
  EXPECT_EQ(find(index, tokens, kSpace, 150).tokens, 5);
  store(index, tokens, 2, kSpace, /*expires=*/120);
  EXPECT_EQ(find(index, tokens, kSpace, 150).tokens, 5) << "it is never cut short";
  store(index, tokens, 2);
  EXPECT_EQ(find(index, tokens, kSpace, 1'000'000).tokens, 5);
  store(index, tokens, 2, kSpace, /*expires=*/300);
  EXPECT_EQ(find(index, tokens, kSpace, 1'000'000).tokens, 5);
}

TEST(PrefixIndex, InsertingAgainReturnsTheSameBlock) {
  PrefixIndex index = make_index(2);
  const TokenIds tokens = {1, 2};
  const auto first = index.insert(kSpace, kNoBlock, tokens, {.payload = 7});
  const auto second = index.insert(kSpace, kNoBlock, tokens, {.payload = 8});
  EXPECT_EQ(first, second);
  EXPECT_EQ(index.payload(*first), 7u);
  EXPECT_EQ(index.stats().blocks, 1);
}

TEST(PrefixIndex, ParentAndKeyDescribeTheChain) {
  PrefixIndex index = make_index(2);
  const BlockId last = store(index, {1, 2, 3, 4}, 2);
  const BlockId first = index.parent(last);
  EXPECT_EQ(index.parent(first), kNoBlock);
  EXPECT_EQ(index.key(first), block_key(kSpace, kSpace, TokenIds{1, 2}));
  EXPECT_EQ(index.key(last), block_key(index.key(first), kSpace, TokenIds{3, 4}));
}

TEST(PrefixIndex, ClearKeepsOnlyWhatIsHeld) {
  PrefixIndex index = make_index(2);
  const BlockId held = store(index, {1, 2, 3, 4}, 2);
  store(index, {1, 2, 5, 6, 7}, 2);
  index.hold(held);
  index.clear();
  EXPECT_EQ(index.stats().blocks, 2);
  index.release(held);
  index.clear();
  EXPECT_EQ(index.stats().blocks, 0);
}

// Everything the index does, done by scanning a list of all stored paths.
class NaiveIndex {
 public:
  NaiveIndex(std::int64_t block_size, std::int64_t capacity)
      : size_(static_cast<std::size_t>(block_size)),
        capacity_(static_cast<std::size_t>(capacity)) {}

  std::int64_t lookup(const BlockKey& space, const TokenIds& tokens, std::size_t max) {
    ++tick_;
    std::size_t best = 0;
    for (const auto& [path, entry] : entries_) {
      if (path.first != space.low) continue;
      const auto n = std::min({path.second.size(), tokens.size(), max});
      best = std::max(best, shared(path.second, tokens, n));
    }
    // Used: the full blocks, and one block that holds the partial rest.
    for (std::size_t end = size_; end <= best; end += size_) {
      entries_.at({space.low, prefix(tokens, end)}).used = tick_;
    }
    return static_cast<std::int64_t>(best);
  }

  void touch_partial(const BlockKey& space, const TokenIds& path) {
    entries_.at({space.low, path}).used = tick_;
  }

  bool insert(const BlockKey& space, const TokenIds& tokens, std::size_t from) {
    const std::size_t end = std::min(tokens.size(), from + size_);
    const Path path{space.low, prefix(tokens, end)};
    if (const auto it = entries_.find(path); it != entries_.end()) {
      it->second.used = tick_;
      return true;
    }
    const Path parent{space.low, prefix(tokens, from)};
    while (capacity_ != 0 && entries_.size() >= capacity_) {
      const auto victim = lowest(parent);
      if (!victim ||
          (entries_.at(*victim).used == tick_ && blocks(end) > blocks(victim->second.size()))) {
        return false;
      }
      entries_.erase(*victim);
    }
    entries_[path] = {tick_, tick_};
    return true;
  }

  std::set<std::pair<std::uint64_t, TokenIds>> paths() const {
    std::set<std::pair<std::uint64_t, TokenIds>> all;
    for (const auto& [path, entry] : entries_) all.insert(path);
    return all;
  }

 private:
  using Path = std::pair<std::uint64_t, TokenIds>;
  struct Entry {
    std::uint64_t used;
    std::uint64_t inserted;
  };

  static TokenIds prefix(const TokenIds& tokens, std::size_t n) {
    return {tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(n)};
  }

  static std::size_t shared(const TokenIds& a, const TokenIds& b, std::size_t n) {
    std::size_t i = 0;
    while (i < n && a[i] == b[i]) ++i;
    return i;
  }

  bool is_leaf(const Path& path) const {
    return std::ranges::none_of(entries_, [&](const auto& other) {
      return other.first.first == path.first && other.first.second.size() > path.second.size() &&
             path.second.size() % size_ == 0 &&
             std::equal(path.second.begin(), path.second.end(), other.first.second.begin());
    });
  }

  std::int64_t blocks(std::size_t tokens) const {
    return static_cast<std::int64_t>((tokens + size_ - 1) / size_);
  }

  // Least recently used first, then deepest, then oldest. Depth counts blocks.
  auto order(const Path& path, const Entry& entry) const {
    return std::tuple(entry.used, -blocks(path.second.size()), entry.inserted);
  }

  std::optional<Path> lowest(const Path& held) const {
    std::optional<Path> best;
    for (const auto& [path, entry] : entries_) {
      if (path == held || !is_leaf(path)) continue;
      if (!best || order(path, entry) < order(*best, entries_.at(*best))) best = path;
    }
    return best;
  }

  std::size_t size_;
  std::size_t capacity_;
  std::uint64_t tick_ = 0;
  std::map<Path, Entry> entries_;
};

class PrefixIndexRandom : public ::testing::TestWithParam<std::tuple<int, int, int>> {};

TEST_P(PrefixIndexRandom, EqualsANaiveScan) {
  const auto [block_size, capacity, alphabet] = GetParam();
  std::mt19937 random(static_cast<unsigned>(block_size * 1000 + capacity * 10 + alphabet));
  PrefixIndex index = make_index(block_size, capacity);
  NaiveIndex naive(block_size, capacity);
  std::vector<TokenIds> history;
  for (int step = 0; step < (capacity == 0 ? 150 : 600); ++step) {
    TokenIds tokens;
    if (!history.empty() && random() % 2 == 0) {
      tokens = history[random() % history.size()];
      tokens.resize(random() % (tokens.size() + 1));
    }
    const std::size_t extra = 1 + random() % 9;
    for (std::size_t i = 0; i < extra; ++i) {
      tokens.push_back(static_cast<TokenId>(random() % static_cast<unsigned>(alphabet)));
    }
    history.push_back(tokens);
    const BlockKey space = random() % 4 == 0 ? kOther : kSpace;
    const std::size_t max = random() % 3 == 0 ? tokens.size() - 1 : tokens.size();

    const IndexMatch match = index.lookup(space, tokens, static_cast<std::int64_t>(max));
    ASSERT_EQ(match.tokens, naive.lookup(space, tokens, max)) << step;
    ASSERT_EQ(match.tokens,
              static_cast<std::int64_t>(match.blocks.size()) * block_size + match.partial_tokens);
    if (match.partial != kNoBlock) naive.touch_partial(space, path_of(index, match.partial));

    BlockId parent = match.blocks.empty() ? kNoBlock : match.blocks.back();
    for (std::size_t at = match.blocks.size() * static_cast<std::size_t>(block_size);
         at < tokens.size(); at += static_cast<std::size_t>(block_size)) {
      const auto n = std::min(tokens.size() - at, static_cast<std::size_t>(block_size));
      const auto id = index.insert(space, parent, std::span(tokens).subspan(at, n));
      ASSERT_EQ(id.has_value(), naive.insert(space, tokens, at)) << step;
      if (!id) break;
      ASSERT_EQ(path_of(index, *id),
                TokenIds(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(at + n)));
      parent = *id;
    }
    ASSERT_EQ(index.stats().blocks, std::ssize(naive.paths())) << step;
  }
  for (const auto& [space, path] : naive.paths()) {
    const BlockKey key = space == kSpace.low ? kSpace : kOther;
    EXPECT_EQ(index.lookup(key, path, std::ssize(path)).tokens, std::ssize(path));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PrefixIndexRandom,
                         ::testing::Combine(::testing::Values(1, 2, 4), ::testing::Values(0, 5, 40),
                                            ::testing::Values(2, 3, 50)));

TEST(PrefixIndex, MemoryPerBlockIsBounded) {
  PrefixIndex index = make_index(16);
  TokenIds tokens(16);
  constexpr std::int64_t kBlocks = 200'000;
  for (std::int64_t i = 0; i < kBlocks; ++i) {
    tokens[0] = static_cast<TokenId>(i);
    ASSERT_TRUE(index.insert(kSpace, kNoBlock, tokens).has_value());
  }
  EXPECT_LE(index.stats().bytes / static_cast<std::size_t>(kBlocks), 250u);
}

}  // namespace
}  // namespace quire
