// SPDX-License-Identifier: Apache-2.0
// The races that a shared cache of pages invites, one test each; run them under ThreadSanitizer.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/page_tier.h>
#include <quire/prefix_cache.h>

#include <atomic>
#include <barrier>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/prefix/server.h"
#include "tests/prefix/tier_texts.h"

namespace quire {
namespace {

using testing::append;
using testing::history_of;
using testing::make_spec;
using testing::ramp;
using testing::Server;
using testing::TemporaryFolder;

constexpr int kRounds = 30;

void on_threads(std::vector<std::function<void()>> works) {
  std::vector<std::thread> threads;
  for (auto& work : works) threads.emplace_back(std::move(work));
  for (std::thread& thread : threads) thread.join();
}

// Until done: stores text after text, so that others are evicted; forgets all that nobody holds.
void store_others(Server& server, const std::atomic<bool>& done) {
  for (TokenId text = 1; !done; ++text) server.serve(ramp(64, text % 50 * 1000));
}

void clear_again(Server& server, const std::atomic<bool>& done) {
  while (!done) {
    server.cache.clear();
    std::this_thread::yield();
  }
}

std::int64_t page_bytes() { return make_spec().bytes_per_token() * 32; }

TEST(Races, PinnedPage) {
  Server server({.bytes = 4 * page_bytes()});
  const TokenIds pinned = ramp(64);
  std::atomic<bool> done = false;
  on_threads({[&] {
                for (int i = 0; i < kRounds; ++i) {
                  server.serve(pinned);
                  const std::int64_t count = server.cache.pin(server.model, pinned);
                  std::this_thread::yield();
                  EXPECT_GE(server.cache.lookup(server.model, pinned).reused_tokens(),
                            std::min<std::int64_t>(count, 63));
                  if (count > 0) server.cache.unpin(server.model, pinned);
                }
                done = true;
              },
              [&] { store_others(server, done); }, [&] { clear_again(server, done); }});
}

TEST(Races, UseAfterEvict) {
  Server server({.bytes = 3 * page_bytes()});
  const TokenIds tokens = ramp(65);
  const auto expected = server.cold(tokens);
  std::atomic<bool> done = false;
  on_threads({[&] {
                for (int i = 0; i < kRounds; ++i) {
                  server.serve(tokens);
                  PrefixMatch match = server.cache.lookup(server.model, tokens);
                  const auto kv = match.make_cache();
                  match = PrefixMatch();  // nothing but the cache holds the pages now
                  const auto history = history_of(tokens);
                  for (auto at = static_cast<std::size_t>(kv->length()); at + 1 < tokens.size();) {
                    append(*kv, server.model.kv, std::span(history).subspan(at++, 1));
                  }
                  EXPECT_EQ(append(*kv, server.model.kv, std::span(history).last(1)), expected);
                }
                done = true;
              },
              [&] { store_others(server, done); }, [&] { clear_again(server, done); }});
}

TEST(Races, DoubleFree) {
  Server server({.bytes = 100 * page_bytes()});
  const TokenIds tokens = ramp(200);
  for (int i = 0; i < kRounds; ++i) {
    server.serve(tokens);
    std::barrier start(3);
    auto one = std::make_unique<PrefixMatch>(server.cache.lookup(server.model, tokens));
    auto two = std::make_unique<PrefixMatch>(server.cache.lookup(server.model, tokens));
    on_threads({[&] {
                  start.arrive_and_wait();
                  one.reset();
                  server.cache.clear();
                },
                [&] {
                  start.arrive_and_wait();
                  two.reset();
                  server.cache.clear();
                },
                [&] {
                  start.arrive_and_wait();
                  server.cache.end_session(server.model, tokens);
                  server.cache.clear();
                }});
    EXPECT_EQ(server.cache.stats().blocks, 0);
    EXPECT_EQ(server.cache.stats().bytes, 0);
  }
}

// A tier whose load does something else first: what others do while a lookup waits for it.
class SlowTier final : public PageTier {
 public:
  Kind kind() const override { return Kind::kDisk; }
  void load(const TierText& text, std::int64_t first, BlockReader& reader) override {
    if (during) std::exchange(during, nullptr)();
    inner->load(text, first, reader);
  }
  std::int64_t store(const TierText& text, std::int64_t first, std::span<const BlockBytes> blocks,
                     std::chrono::milliseconds ttl) override {
    return inner->store(text, first, blocks, ttl);
  }
  TierStats stats() const override { return inner->stats(); }

  std::shared_ptr<PageTier> inner;
  std::function<void()> during;
};

TEST(Races, InsertDuringLookup) {
  const TemporaryFolder folder;
  const auto tier = std::make_shared<SlowTier>();
  tier->inner = make_disk_tier(folder.file("db"));
  Server server({.tiers = {tier}});
  const TokenIds tokens = ramp(150);
  server.serve(tokens);
  server.cache.flush();
  const auto expected = server.cold(tokens);
  const std::vector<std::function<void()>> meanwhile = {
      [&] { server.serve(tokens); },     // the same text
      [&] { server.serve(ramp(70)); },   // its beginning
      [&] { server.serve(ramp(190)); },  // more than it
      [&] { server.cache.clear(); },     // everything goes
      [&] {
        server.serve(tokens);
        server.cache.clear();
      }};
  for (const auto& work : meanwhile) {
    server.cache.clear();
    tier->during = [&] { std::thread(work).join(); };
    const Server::Served served = server.serve(tokens);
    EXPECT_EQ(served.reused, 149);
    EXPECT_EQ(served.last, expected);
    EXPECT_EQ(tier->during, nullptr);
  }
}

TEST(Races, TwoThreadsSamePrefix) {
  for (int i = 0; i < kRounds; ++i) {
    Server server({});
    const TokenIds tokens = ramp(100, 1000 * i);
    const auto expected = server.cold(tokens);
    std::barrier start(2);
    const auto work = [&] {
      start.arrive_and_wait();
      EXPECT_EQ(server.serve(tokens).last, expected);
    };
    on_threads({work, work});
    const PrefixCacheStats stats = server.cache.stats();
    EXPECT_EQ(stats.blocks, 4) << "kept once";
    EXPECT_EQ(stats.bytes, 4 * page_bytes());
  }
}

TEST(Races, NamespacesComeAndGo) {
  Server server(
      {.bytes = 4 * page_bytes(), .logits_bytes = 1 << 16, .explain_across_namespaces = true});
  const TokenIds tokens = ramp(50);
  const auto expected = server.cold(tokens);
  std::atomic<bool> done = false;
  const auto work = [&] {
    for (int i = 0; i < kRounds; ++i) {
      const PrefixScope scope{.salt = std::to_string(i % 3)};
      EXPECT_EQ(server.serve(tokens, scope).last, expected);
      server.cache.lookup_whole(server.model, tokens, scope).store_logits(tokens, {1});
      if (server.cache.pin(server.model, tokens, scope) > 0) {
        server.cache.unpin(server.model, tokens, scope);
      }
    }
  };
  on_threads({[&] {
                work();
                done = true;
              },
              work, [&] { store_others(server, done); }, [&] { clear_again(server, done); }});
  server.cache.clear();
  EXPECT_EQ(server.cache.stats().blocks, 0);
  EXPECT_EQ(server.cache.stats().bytes, 0);
  EXPECT_EQ(server.cache.stats().logits_bytes, 0);
}

TEST(Races, EverythingAtOnce) {
  const TemporaryFolder folder;
  Server server({.bytes = 6 * page_bytes(),
                 .disk_path = folder.file("db"),
                 .disk_bytes = 4 << 20,
                 .queue_bytes = 8 * page_bytes(),
                 .on_event = [](const PrefixEvent&) {}});
  std::vector<std::function<void()>> works;
  for (unsigned t = 0; t < 4; ++t) {
    works.emplace_back([&server, t] {
      std::mt19937 random(t);
      for (int step = 0; step < kRounds; ++step) {
        TokenIds tokens = ramp(40 + random() % 3 * 20);  // all threads share these
        for (std::size_t i = random() % 40; i > 0; --i) {
          tokens.push_back(static_cast<TokenId>(random() % 3));
        }
        EXPECT_EQ(server.serve(tokens).last, server.cold(tokens));
        const std::int64_t pinned = server.cache.pin(server.model, tokens);
        switch (random() % 5) {
          case 0:
            server.cache.clear();
            break;
          case 1:
            server.cache.end_session(server.model, tokens);
            break;
          case 2:
            server.cache.prometheus();
            break;
          case 3:
            server.cache.flush();
            break;
          default:
            break;
        }
        if (pinned > 0) server.cache.unpin(server.model, tokens);
      }
    });
  }
  on_threads(std::move(works));
  const PrefixCacheStats stats = server.cache.stats();
  EXPECT_GT(stats.memory_tokens + stats.disk_tokens, 0);
  EXPECT_LE(stats.bytes, 6 * page_bytes());
}

}  // namespace
}  // namespace quire
