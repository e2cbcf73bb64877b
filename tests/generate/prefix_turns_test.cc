// SPDX-License-Identifier: Apache-2.0
// Prompts that begin alike and arrive together.
#include "generate/prefix_turns.h"

#include <gtest/gtest.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>

#include <chrono>
#include <future>
#include <thread>
#include <vector>

#include "tests/generate/concurrent.h"
#include "tests/generate/models.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using test::kModel;
using test::random_ids;
using test::request_of;
using test::tiny_model;

TEST(PrefixTurns, OthersWaitForPagesThatAreBeingComputed) {
  PrefixTurns turns(4);
  const TokenIds prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const TokenIds alike = {1, 2, 3, 4, 5, 6, 0};
  const TokenIds other = {1, 2, 3, 0};
  const PrefixScope scope;
  const PrefixScope elsewhere{.salt = "x"};
  PrefixTurns::Turn first(turns, prompt, scope, true, std::nullopt);
  EXPECT_FALSE(first.awaited());
  PrefixTurns::Turn(turns, other, scope, true, std::nullopt);      // not even a page in common
  PrefixTurns::Turn(turns, alike, elsewhere, true, std::nullopt);  // nothing crosses
  PrefixTurns::Turn(turns, alike, scope, true, std::chrono::steady_clock::now() + 10ms);

  auto second = std::async(std::launch::async, [&] {
    PrefixTurns::Turn turn(turns, alike, scope, true, std::nullopt);
    return true;
  });
  while (!first.awaited()) std::this_thread::yield();
  EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout);
  first.end();
  EXPECT_TRUE(second.get());
}

TEST(PrefixTurns, WhatWasKnownBeforeIsNotWaitedFor) {
  PrefixTurns turns(4);
  const TokenIds prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const PrefixScope scope;
  PrefixTurns::Turn first(turns, prompt, scope, true, std::nullopt);
  auto second = std::async(std::launch::async, [&] {
    PrefixTurns::Turn turn(turns, prompt, scope, true, std::nullopt);
    return true;
  });
  while (!first.awaited()) std::this_thread::yield();
  first.reuses(4);
  EXPECT_EQ(second.wait_for(20ms), std::future_status::timeout) << "the second page is new";
  first.reuses(8);
  EXPECT_TRUE(second.get());
}

TEST(PrefixTurns, RequestsThatArriveTogetherComputeAPromptOnce) {
  const auto model = tiny_model(kModel);
  PrefixCache prefixes({.block_size = 16});
  Generator generator(model, {.threads = 1, .prefill_chunk = 1, .prefix_cache = &prefixes});
  std::mt19937 random(1);
  const TokenIds start = random_ids(random, 96);
  const TokenIds expected = generator.generate(request_of(start, 2)).ids;
  prefixes.clear();
  // The first is in the middle of its prompt, a token a pass, when the others come.
  std::vector<std::future<Result>> results;
  for (int i = 0; i < 6; ++i) {
    TokenIds ids = start;
    ids.push_back(static_cast<TokenId>(10 + i));
    results.push_back(std::async(
        std::launch::async, [&generator, ids] { return generator.generate(request_of(ids, 8)); }));
  }
  std::int64_t computed = 0;
  for (auto& result : results) {
    const Result r = result.get();
    computed += r.usage.prompt_tokens - r.usage.cached_tokens;
  }
  EXPECT_LT(computed, 6 * 97) << "at least one found pages of another";
}

}  // namespace
}  // namespace quire
