// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "tests/io/temporary_folder.h"
#include "tests/kv/tokens.h"
#include "tests/prefix/server.h"

namespace quire {
namespace {

using test::TemporaryFolder;
using testing::append;
using testing::grow_family;
using testing::history_of;
using testing::make_spec;
using testing::ramp;
using testing::Server;

class PrefixCacheBlocks : public ::testing::TestWithParam<int> {};

TEST_P(PrefixCacheBlocks, ReuseIsExactAtEveryBorder) {
  const std::int64_t size = GetParam();
  for (const std::int64_t shared : {std::int64_t{0}, std::int64_t{1}, size - 1, size, size + 1,
                                    2 * size - 1, 2 * size, 2 * size + 1}) {
    Server server({.block_size = size});
    TokenIds first = ramp(shared);
    first.insert(first.end(), {-1, -2, -3});
    TokenIds second = ramp(shared);
    second.insert(second.end(), {-7, -8, -9, -10});
    EXPECT_EQ(server.serve(first).reused, 0);
    const Server::Served served = server.serve(second);
    expect_parted(served, shared);
    EXPECT_EQ(served.last, server.cold(second));
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, PrefixCacheBlocks, ::testing::Values(16, 32, 64));

TEST(PrefixCache, TheSameTextAgainLeavesOneToken) {
  Server server({});
  for (const std::int64_t length : {1, 2, 31, 32, 33, 64, 65, 100}) {
    const TokenIds tokens = ramp(length, static_cast<TokenId>(1000 * length));
    server.serve(tokens);
    const Server::Served served = server.serve(tokens);
    EXPECT_EQ(served.reused, length - 1);
    EXPECT_EQ(served.why.reason, MissReason::kNone);
    EXPECT_EQ(served.last, server.cold(tokens));
  }
}

TEST(PrefixCache, ATextThatGoesOnReplacesItsOpenBlock) {
  Server server({});
  server.serve(ramp(40));
  EXPECT_EQ(server.cache.stats().blocks, 2);
  EXPECT_EQ(server.serve(ramp(50)).reused, 40);
  EXPECT_EQ(server.cache.stats().blocks, 2);
  EXPECT_EQ(server.serve(ramp(70)).reused, 50);
  EXPECT_EQ(server.cache.stats().blocks, 3);
}

TEST(PrefixCache, RandomFamiliesUnderEvictionsEqualTheirColdRuns) {
  std::mt19937 random(7);
  const KvSpec spec = make_spec(/*window=*/20);
  const std::int64_t page = spec.bytes_per_token() * 16;
  for (const std::int64_t budget : {3 * page, 10 * page, 1000 * page}) {
    Server server({.bytes = budget, .block_size = 16}, spec);
    std::vector<TokenIds> texts;
    std::int64_t reused = 0;
    for (int step = 0; step < 60; ++step) {
      const TokenIds& tokens = grow_family(texts, random);
      const Server::Served served = server.serve(tokens, {}, 1 + random() % 50);
      reused += served.reused;
      ASSERT_EQ(served.last, server.cold(tokens)) << step;
      ASSERT_LE(server.cache.stats().bytes, budget);
    }
    EXPECT_GT(reused, 0);
  }
}

TEST(PrefixCache, NothingCrossesAnyField) {
  Server server({.explain_across_namespaces = true});
  const TokenIds tokens = ramp(100);
  server.serve(tokens, {.name_space = "a", .salt = "s", .adapter = "x"});
  const auto missed = [&](const PrefixModel& model, const PrefixScope& scope) {
    const PrefixMatch match = server.cache.lookup(model, tokens, scope);
    EXPECT_EQ(match.reused_tokens(), 0);
    EXPECT_EQ(match.why_not_more().reason, MissReason::kOtherNamespace);
    return match.why_not_more().field;
  };
  EXPECT_EQ(missed(server.model, {.name_space = "b", .salt = "s", .adapter = "x"}), "namespace");
  EXPECT_EQ(missed(server.model, {.name_space = "a", .salt = "t", .adapter = "x"}), "salt");
  EXPECT_EQ(missed(server.model, {.name_space = "a", .salt = "s", .adapter = "y"}), "adapter");
  const PrefixScope own{.name_space = "a", .salt = "s", .adapter = "x"};
  PrefixModel other = server.model;
  other.fingerprint = "other weights";
  EXPECT_EQ(missed(other, own), "model");
  other = server.model;
  other.kv.dtype = DType::kBF16;
  EXPECT_EQ(missed(other, own), "kv_dtype");
  other = server.model;
  other.kv.layers[0].window = 64;
  EXPECT_EQ(missed(other, own), "kv_layout");
}

TEST(PrefixCache, OtherNamespacesAreATenantsSecretByDefault) {
  Server server({});
  const TokenIds tokens = ramp(100);
  server.serve(tokens, {.name_space = "a"});
  const PrefixMatch match = server.cache.lookup(server.model, tokens, {.name_space = "b"});
  EXPECT_EQ(match.why_not_more().reason, MissReason::kCold);
  EXPECT_EQ(match.why_not_more().field, "");
}

TEST(PrefixCache, FieldsThatRunTogetherAreNotEqual) {
  Server server({});
  const TokenIds tokens = ramp(40);
  server.serve(tokens, {.name_space = "ab", .salt = "c"});
  EXPECT_EQ(server.serve(tokens, {.name_space = "a", .salt = "bc"}).reused, 0);
}

TEST(PrefixCache, CollidingHashesNeverServeAnotherText) {
  Server server({.block_size = 16, .hash_bits = 8});
  std::mt19937 random(3);
  for (int step = 0; step < 150; ++step) {
    TokenIds tokens;
    for (int i = 0; i < 40; ++i) tokens.push_back(static_cast<TokenId>(random() % 2));
    ASSERT_EQ(server.serve(tokens).last, server.cold(tokens));
  }
  EXPECT_GT(server.cache.stats().collisions, 0);
}

TEST(PrefixCache, PinnedPagesStay) {
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.bytes = 3 * page});
  const TokenIds kept = ramp(65);
  server.serve(kept);
  EXPECT_EQ(server.cache.pin(server.model, kept), 64);
  for (TokenId other = 1; other < 10; ++other) server.serve(ramp(65, other * 1000));
  EXPECT_EQ(server.serve(kept).reused, 64);
  server.cache.unpin(server.model, kept);
  for (TokenId other = 1; other < 10; ++other) server.serve(ramp(65, other * 1000));
  EXPECT_EQ(server.serve(kept).reused, 0);
}

TEST(PrefixCache, UseAfterEvictIsSafe) {
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.bytes = 2 * page});
  const TokenIds tokens = ramp(65);
  server.serve(tokens);
  const PrefixMatch match = server.cache.lookup(server.model, tokens);
  const auto kv = match.make_cache();
  for (TokenId other = 1; other < 10; ++other) server.serve(ramp(65, other * 1000));
  server.cache.clear();
  const auto history = history_of(tokens);
  const auto rest = std::span(history).subspan(static_cast<std::size_t>(kv->length()));
  append(*kv, server.model.kv, rest.first(rest.size() - 1));
  EXPECT_EQ(append(*kv, server.model.kv, rest.last(1)), server.cold(tokens));
}

TEST(PrefixCache, EndedSessionsGoFirst) {
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.bytes = 6 * page});
  const TokenIds old_but_open = ramp(64, 1000);
  const TokenIds ended = ramp(64, 2000);
  server.serve(old_but_open);
  server.serve(ended);
  server.cache.end_session(server.model, ended);
  server.serve(ramp(96, 3000));
  EXPECT_EQ(server.serve(old_but_open).reused, 63);
  EXPECT_LT(server.serve(ended).reused, 64);
}

TEST(PrefixCache, TimeToLive) {
  std::chrono::milliseconds clock{0};
  Server server({.ttl = std::chrono::milliseconds(100), .now = [&clock] { return clock; }});
  const TokenIds tokens = ramp(64);
  server.serve(tokens);
  clock = std::chrono::milliseconds(99);
  EXPECT_EQ(server.cache.lookup(server.model, tokens).reused_tokens(), 63);
  clock = std::chrono::milliseconds(100);
  const PrefixMatch match = server.cache.lookup(server.model, tokens);
  EXPECT_EQ(match.reused_tokens(), 0);
  EXPECT_EQ(match.why_not_more().reason, MissReason::kExpired);
}

TEST(PrefixCache, APinEndsThoughItsTimeIsOver) {
  std::chrono::milliseconds clock{0};
  Server server({.ttl = std::chrono::milliseconds(100), .now = [&clock] { return clock; }});
  const TokenIds tokens = ramp(64);
  server.serve(tokens);
  EXPECT_EQ(server.cache.pin(server.model, tokens), 64);
  clock = std::chrono::milliseconds(100);
  EXPECT_EQ(server.cache.lookup(server.model, tokens).why_not_more().reason, MissReason::kExpired);
  server.cache.clear();
  EXPECT_EQ(server.cache.stats().blocks, 2) << "pinned";
  server.cache.unpin(server.model, tokens);
  server.cache.clear();
  EXPECT_EQ(server.cache.stats().blocks, 0);
}

TEST(PrefixCache, WhatIsHeldBeyondItsTimeCanBeStoredAgain) {
  std::chrono::milliseconds clock{0};
  Server server({.ttl = std::chrono::milliseconds(100), .now = [&clock] { return clock; }});
  const TokenIds tokens = ramp(64);
  server.serve(tokens);
  const PrefixMatch held = server.cache.lookup(server.model, tokens);
  EXPECT_EQ(held.reused_tokens(), 63);
  clock = std::chrono::milliseconds(100);
  EXPECT_EQ(server.serve(tokens).reused, 0);
  clock = std::chrono::milliseconds(150);
  const Server::Served served = server.serve(tokens);
  EXPECT_EQ(served.reused, 63);
  EXPECT_EQ(served.last, server.cold(tokens));
}

TEST(PrefixCache, TheLongestTimeToLiveIsForEver) {
  Server server({.ttl = std::chrono::milliseconds::max(),
                 .now = [] { return std::chrono::milliseconds(1000); }});
  server.serve(ramp(64));
  EXPECT_EQ(server.serve(ramp(64)).reused, 63);
}

TEST(PrefixCache, MaximumPrefix) {
  Server server({.max_prefix_tokens = 48});
  const TokenIds tokens = ramp(100);
  server.serve(tokens);
  const Server::Served served = server.serve(tokens);
  EXPECT_EQ(served.reused, 48);
  EXPECT_EQ(served.last, server.cold(tokens));
}

TEST(PrefixCache, NoBudgetKeepsNothing) {
  Server server({.bytes = 0});
  const TokenIds tokens = ramp(100);
  server.serve(tokens);
  const Server::Served served = server.serve(tokens);
  EXPECT_EQ(served.reused, 0);
  EXPECT_EQ(served.why.reason, MissReason::kDisabled);
  EXPECT_EQ(server.cache.stats().bytes, 0);
}

TEST(PrefixCache, EventsTellTheStoryAndMayCallBack) {
  std::vector<PrefixEvent::Kind> kinds;
  PrefixCache* self = nullptr;
  const std::int64_t page = make_spec().bytes_per_token() * 32;
  Server server({.bytes = 2 * page, .on_event = [&](const PrefixEvent& event) {
                   kinds.push_back(event.kind);
                   self->stats();  // would deadlock if it were called under the lock
                 }});
  self = &server.cache;
  server.serve(ramp(65));
  EXPECT_THAT(kinds, ::testing::ElementsAre(PrefixEvent::Kind::kStored, PrefixEvent::Kind::kStored,
                                            PrefixEvent::Kind::kRejected));
  kinds.clear();
  server.serve(ramp(33, 1000));
  EXPECT_THAT(kinds, ::testing::Contains(PrefixEvent::Kind::kEvicted));
}

TEST(PrefixCache, WhatAnObserverThrowsIsDropped) {
  int told = 0;
  Server server({.on_event = [&](const PrefixEvent&) {
    if (++told == 1) throw std::runtime_error("observer");
    throw told;
  }});
  server.serve(ramp(65));
  EXPECT_EQ(told, 3);
  EXPECT_EQ(server.serve(ramp(65)).reused, 64);
}

// While it lives no thread can start: there is no room for a stack.
class NoThreads {
 public:
  NoThreads() {
    pthread_getattr_default_np(&usual_);
    pthread_attr_t huge;
    pthread_attr_init(&huge);
    pthread_attr_setstacksize(&huge, std::size_t{1} << 60);
    EXPECT_EQ(pthread_setattr_default_np(&huge), 0);
    pthread_attr_destroy(&huge);
  }
  ~NoThreads() {
    pthread_setattr_default_np(&usual_);
    pthread_attr_destroy(&usual_);
  }

 private:
  pthread_attr_t usual_;
};

TEST(PrefixCache, NoThreadForATierIsAnError) {
  const TemporaryFolder folder;
  const auto code_of_failure = [&] {
    const NoThreads none;
    try {
      const PrefixCache cache({.disk_path = folder.file("db")});
    } catch (const Error& error) {
      return error.code();
    }
    return ErrorCode::kNotFound;
  };
  EXPECT_EQ(code_of_failure(), ErrorCode::kOutOfMemory);
  EXPECT_NO_THROW(PrefixCache({.disk_path = folder.file("db")}));
}

TEST(PrefixCache, StatisticsAddUp) {
  Server server({});
  server.serve(ramp(70));
  server.serve(ramp(70));
  const PrefixCacheStats stats = server.cache.stats();
  EXPECT_EQ(stats.lookups, 2);
  EXPECT_EQ(stats.asked_tokens, 140);
  EXPECT_EQ(stats.memory_tokens, 64);
  EXPECT_EQ(stats.copied_tokens, 5);
  EXPECT_EQ(stats.stored_blocks, 3);
  EXPECT_THAT(server.cache.prometheus(),
              ::testing::HasSubstr("\nquire_prefix_cache_lookups_total 2\n"));
}

TEST(PrefixCache, ForeignCachesAreRefused) {
  Server server({});
  PrefixMatch match = server.cache.lookup(server.model, ramp(10));
  DynamicCache foreign(server.model.kv);
  append(foreign, server.model.kv, history_of(ramp(10)));
  EXPECT_THROW(match.store(ramp(10), foreign), Error);
  const auto own = match.make_cache();
  EXPECT_THROW(match.store(ramp(10), *own), Error) << "it does not hold the tokens";
}

TEST(PrefixCache, OptionsAreChecked) {
  EXPECT_THROW(PrefixCache({.bytes = -1}), Error);
  EXPECT_THROW(PrefixCache({.block_size = 24}), Error);
  EXPECT_THROW(PrefixCache({.policy = "newest"}), Error);
}

TEST(PrefixCache, ManyThreadsShareOneCache) {
  const KvSpec spec = make_spec();
  Server server({.bytes = spec.bytes_per_token() * 32 * 6}, spec);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&server, t] {
      std::mt19937 random(t);
      for (int step = 0; step < 40; ++step) {
        TokenIds tokens = ramp(40 + random() % 3 * 20);  // all threads share these
        for (std::size_t i = random() % 40; i > 0; --i) {
          tokens.push_back(static_cast<TokenId>(random() % 3));
        }
        EXPECT_EQ(server.serve(tokens).last, server.cold(tokens));
        if (step % 10 == 0) server.cache.clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace quire
