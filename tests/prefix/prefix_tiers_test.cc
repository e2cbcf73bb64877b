// SPDX-License-Identifier: Apache-2.0
// PrefixCache with tiers behind its memory: what comes from one equals what would be computed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/page_tier.h>
#include <quire/prefix_cache.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/prefix/server.h"
#include "tests/prefix/tier_texts.h"

namespace quire {
namespace {

using testing::grow_family;
using testing::make_spec;
using testing::ramp;
using testing::Server;
using testing::TemporaryFolder;

class PrefixTiers : public ::testing::TestWithParam<int> {};

TEST_P(PrefixTiers, ReuseFromDiskIsExactAtEveryBorder) {
  const std::int64_t size = GetParam();
  for (const std::int64_t shared :
       {std::int64_t{0}, std::int64_t{1}, size - 1, size, size + 1, 2 * size, 2 * size + 1}) {
    const TemporaryFolder folder;
    TokenIds first = ramp(shared);
    first.insert(first.end(), {-1, -2, -3});
    TokenIds second = ramp(shared);
    second.insert(second.end(), {-7, -8, -9, -10});
    Server({.block_size = size, .disk_path = folder.file("db")}).serve(first);
    Server server({.block_size = size, .disk_path = folder.file("db")});
    {
      const PrefixMatch match = server.cache.lookup(server.model, second);
      EXPECT_EQ(match.reused().disk, shared);
      EXPECT_EQ(match.reused_tokens(), shared);
    }
    server.cache.clear();
    const Server::Served served = server.serve(second);
    expect_parted(served, shared);
    EXPECT_EQ(served.last, server.cold(second));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PrefixTiers, ::testing::Values(16, 32, 64));

TEST(PrefixTiers, WhatWasEvictedFromMemoryComesBack) {
  const TemporaryFolder folder;
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.bytes = 3 * page, .disk_path = folder.file("db")});
  const TokenIds tokens = ramp(80);
  server.serve(tokens);
  for (TokenId other = 1; other < 5; ++other) server.serve(ramp(80, other * 1000));
  server.cache.flush();
  const PrefixMatch match = server.cache.lookup(server.model, tokens);
  EXPECT_EQ(match.reused().disk, 79);
  EXPECT_EQ(match.why_not_more().reason, MissReason::kNone);
  EXPECT_EQ(server.cache.stats().disk_tokens, 79);
}

TEST(PrefixTiers, MemoryAndDiskMakeOneChain) {
  const TemporaryFolder folder;
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  const TokenIds tokens = ramp(200);
  Server({.disk_path = folder.file("db")}).serve(tokens);
  Server server({.bytes = 3 * page, .disk_path = folder.file("db")});
  server.serve(TokenIds(tokens.begin(), tokens.begin() + 64));
  const PrefixMatch match = server.cache.lookup(server.model, tokens);
  EXPECT_EQ(match.reused().memory + match.reused().disk, 199);
  EXPECT_EQ(match.reused().memory, 64);
  EXPECT_LE(server.cache.stats().bytes, 3 * page);
}

TEST(PrefixTiers, WhatMemoryHasNoRoomForStillReachesTheDisk) {
  const TemporaryFolder folder;
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  const TokenIds tokens = ramp(200);
  Server({.bytes = 2 * page, .disk_path = folder.file("db")}).serve(tokens, {}, 1000);
  Server server({.disk_path = folder.file("db")});
  const Server::Served served = server.serve(tokens);
  EXPECT_EQ(served.reused, 199);
  EXPECT_EQ(served.last, server.cold(tokens));
}

TEST(PrefixTiers, ScopesAndModelsAreApartOnDiskToo) {
  const TemporaryFolder folder;
  const TokenIds tokens = ramp(100);
  Server({.disk_path = folder.file("db")}).serve(tokens, {.salt = "a"});
  Server server({.disk_path = folder.file("db")});
  EXPECT_EQ(server.cache.lookup(server.model, tokens, {.salt = "b"}).reused_tokens(), 0);
  PrefixModel other = server.model;
  other.fingerprint = "other weights";
  EXPECT_EQ(server.cache.lookup(other, tokens, {.salt = "a"}).reused_tokens(), 0);
  EXPECT_EQ(server.cache.lookup(server.model, tokens, {.salt = "a"}).reused_tokens(), 99);
}

TEST(PrefixTiers, RandomFamiliesEqualTheirColdRuns) {
  std::mt19937 random(7);
  for (const DType dtype : {DType::kF32, DType::kBF16}) {
    KvSpec spec = make_spec(/*window=*/20);
    spec.dtype = dtype;
    const std::int64_t page = spec.bytes_per_token() * 16;
    const TemporaryFolder folder;
    std::vector<TokenIds> texts;
    std::int64_t from_disk = 0;
    for (int restart = 0; restart < 4; ++restart) {
      Server server({.bytes = (restart % 2 == 0 ? 5 : 500) * page,
                     .block_size = 16,
                     .disk_path = folder.file("db")},
                    spec);
      for (int step = 0; step < 20; ++step) {
        const TokenIds& tokens = grow_family(texts, random);
        ASSERT_EQ(server.serve(tokens, {}, 1 + random() % 50).last, server.cold(tokens)) << step;
        ASSERT_LE(server.cache.stats().bytes, server.cache.options().bytes);
      }
      from_disk += server.cache.stats().disk_tokens;
    }
    EXPECT_GT(from_disk, 0);
  }
}

TEST(PrefixTiers, EventsNameTheTier) {
  const TemporaryFolder folder;
  std::vector<std::string> told;
  const auto tell = [&](const PrefixEvent& event) {
    if (event.tier != "memory") {
      told.push_back(std::string(event.tier) +
                     (event.kind == PrefixEvent::Kind::kStored ? " stored" : " loaded"));
    }
  };
  Server({.disk_path = folder.file("db"), .on_event = tell}).serve(ramp(40));
  EXPECT_THAT(told, ::testing::ElementsAre("disk stored", "disk stored"));
  told.clear();
  Server server({.disk_path = folder.file("db"), .on_event = tell});
  server.serve(ramp(40));
  EXPECT_THAT(told, ::testing::ElementsAre("disk loaded", "disk loaded"));
  server.cache.flush();
  EXPECT_EQ(told.size(), 2U) << "what came from the disk is not written to it again";
  EXPECT_EQ(server.cache.stats().tiers.at(0).loaded_blocks, 2);
  EXPECT_THAT(server.cache.prometheus(),
              ::testing::HasSubstr("quire_prefix_cache_tier_loaded_blocks_total{tier=\"disk\"} 2"));
}

// A tier of an application's own, with a gate before its store.
class GatedTier final : public PageTier {
 public:
  explicit GatedTier(Kind kind = Kind::kRemote) : kind_(kind) {}
  Kind kind() const override { return kind_; }
  void load(const TierText&, std::int64_t, BlockReader& reader) override {
    if (lie) lie(reader);
  }
  std::int64_t store(const TierText& text, std::int64_t first, std::span<const BlockBytes> blocks,
                     std::chrono::milliseconds) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return open_; });
    stored.emplace_back(text.tokens[0], first, std::ssize(blocks));
    return keeps ? std::ssize(blocks) : 0;
  }
  TierStats stats() const override { return {}; }

  void open() {
    const std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

  std::function<void(BlockReader&)> lie;
  bool keeps = true;
  std::vector<std::tuple<TokenId, std::int64_t, std::int64_t>> stored;

 private:
  const Kind kind_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

TEST(PrefixTiers, WritingIsInOrderBoundedAndNobodyWaitsForIt) {
  const auto tier = std::make_shared<GatedTier>();
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.tiers = {tier}, .queue_bytes = 4 * page});
  for (TokenId text = 0; text < 8; ++text) server.serve(ramp(64, 1000 * text));
  // Three stores a text, after 48, 63 and 64 tokens.
  EXPECT_EQ(server.cache.stats().dropped_blocks, 6 * (1 + 1 + 2));
  tier->open();
  server.cache.flush();
  using Job = std::tuple<TokenId, std::int64_t, std::int64_t>;
  EXPECT_THAT(tier->stored,
              ::testing::ElementsAre(Job{0, 0, 1}, Job{0, 1, 1}, Job{1000, 0, 1}, Job{1000, 1, 1}));
  server.serve(ramp(64, 3000));
  server.serve(ramp(70, 0));
  server.cache.flush();
  EXPECT_THAT(std::vector(tier->stored.begin() + 4, tier->stored.end()),
              ::testing::ElementsAre(Job{3000, 0, 2}, Job{0, 2, 1}))
      << "what was dropped is offered when it is used again; what is there is not";
}

TEST(PrefixTiers, WhatATierLostIsOfferedAgainFromTheStart) {
  const auto tier = std::make_shared<GatedTier>();
  tier->open();
  Server server({.tiers = {tier}});
  server.serve(ramp(64));
  server.cache.flush();
  tier->keeps = false;
  server.serve(ramp(96));
  server.cache.flush();
  tier->keeps = true;
  tier->stored.clear();
  server.serve(ramp(96));
  server.cache.flush();
  ASSERT_EQ(tier->stored.size(), 1U);
  EXPECT_EQ(tier->stored[0], std::tuple(0, 0, 3));
}

TEST(PrefixTiers, APartOfAPageCountsForTheTierThatHasMoreOfIt) {
  const auto remote = std::make_shared<GatedTier>();
  const auto disk = std::make_shared<GatedTier>(PageTier::Kind::kDisk);
  const std::vector<std::int64_t> page = {make_spec().bytes_per_token() * 32};
  remote->lie = [&](BlockReader& reader) {
    for (const TokenIds& block : {ramp(32), ramp(8, 32)}) {
      reader.place(block, page, {});
      reader.placed();
    }
  };
  disk->lie = [&](BlockReader& reader) {
    reader.place(ramp(32, 32), page, {});
    reader.placed();
  };
  remote->open();
  disk->open();
  Server server({.tiers = {remote, disk}});
  const PrefixMatch match = server.cache.lookup(server.model, ramp(100));
  EXPECT_EQ(match.reused().remote, 32);
  EXPECT_EQ(match.reused().disk, 32);
  EXPECT_EQ(match.reused_tokens(), 64);
}

TEST(PrefixTiers, ATierIsNotBelieved) {
  const auto tier = std::make_shared<GatedTier>();
  tier->open();
  const KvSpec spec = make_spec();
  const std::int64_t page = spec.bytes_per_token() * 32;
  Server server({.tiers = {tier}});
  const TokenIds tokens = ramp(100);
  const auto reused = [&](const std::function<void(BlockReader&)>& lie) {
    tier->lie = lie;
    return server.cache.lookup(server.model, tokens).reused_tokens();
  };
  const std::vector<std::int64_t> right = {page};
  const std::vector<std::int64_t> wrong = {page + 64};
  const std::vector<std::int64_t> many = {page, page};
  EXPECT_EQ(reused([&](BlockReader& reader) { reader.place(ramp(32, 500), right, {}); }), 0);
  EXPECT_EQ(reused([&](BlockReader& reader) { reader.place(ramp(32), wrong, {}); }), 0);
  EXPECT_EQ(reused([&](BlockReader& reader) { reader.place(ramp(32), many, {}); }), 0);
  EXPECT_EQ(reused([&](BlockReader& reader) { reader.placed(); }), 0) << "nothing was placed";
  TokenIds parted = ramp(5);
  parted.resize(100, -1);
  for (const TokenIds& longer : {ramp(33), ramp(100), parted}) {
    EXPECT_EQ(reused([&](BlockReader& reader) {
                EXPECT_EQ(reader.place(longer, right, {}).size(), 0U) << "longer than a block";
              }),
              0);
  }
  EXPECT_EQ(reused([&](BlockReader& reader) {
              reader.place(ramp(32), right, {});
              throw std::runtime_error("lost");
            }),
            0);
  EXPECT_EQ(reused([&](BlockReader& reader) {
              EXPECT_EQ(reader.place(ramp(32), right, {}).size(), 1U);
              reader.placed();
              EXPECT_EQ(reader.place(ramp(32), right, {}).size(), 0U) << "the first block again";
            }),
            32);
}

}  // namespace
}  // namespace quire
