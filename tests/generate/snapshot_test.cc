// SPDX-License-Identifier: Apache-2.0
// Continuing a snapshot equals reading everything, whatever the cache.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/quantized_cache.h>
#include <quire/session.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <atomic>
#include <functional>
#include <random>
#include <thread>

#include "tests/generate/counting_cache.h"
#include "tests/generate/models.h"
#include "tests/generate/random_ids.h"

namespace quire {
namespace {

using test::code_of;
using test::CountingCache;
using test::random_ids;
using test::smollm2;
using test::tiny_model;

using MakeCache = std::function<std::unique_ptr<KvCache>(const KvSpec&)>;

struct CacheKind {
  const char* name;
  MakeCache make;
};

const CacheKind kKinds[] = {
    {"dynamic", [](const KvSpec& s) { return std::make_unique<DynamicCache>(s); }},
    {"static",
     [](const KvSpec& s) {
       return std::make_unique<StaticCache>(s, StaticCacheOptions{.max_length = 200});
     }},
    {"quantized", [](const KvSpec& s) { return std::make_unique<QuantizedCache>(s); }},
    {"sliding",
     [](const KvSpec& s) {
       return std::make_unique<SlidingCache>(
           s, SlidingCacheOptions{.window = 24, .pages = {.block_size = 16}});
     }},
    {"counting",
     [](const KvSpec& s) {
       return std::make_unique<CountingCache>(std::make_unique<DynamicCache>(s),
                                              std::make_shared<std::atomic<std::int64_t>>());
     }},
};

Request settings(std::int64_t max_new_tokens = 6) {
  Request request;
  request.max_new_tokens = max_new_tokens;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  request.logprobs = 1;
  request.prefix_cache = false;
  return request;
}

Request with_ids(TokenIds ids) {
  Request request = settings();
  request.ids = std::move(ids);
  return request;
}

TokenIds joined(TokenIds a, const TokenIds& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The answer without any reuse, on a cache of the same class.
Result uncached(Generator& generator, Request request, const MakeCache& make) {
  const auto cache = make(generator.model()->kv_spec());
  request.cache = cache.get();
  return generator.generate(request);
}

class SnapshotKinds : public ::testing::TestWithParam<CacheKind> {};

TEST_P(SnapshotKinds, ContinuedIdsEqualAllIds) {
  for (const char* name : {"llama", "gemma3", "mistral-window", "llama-bf16"}) {
    Generator generator(tiny_model(name), {.threads = 1, .prefill_chunk = 24});
    std::mt19937 random(5);
    for (const std::size_t size : {1u, 16u, 32u, 70u, 96u}) {
      const TokenIds prefix = random_ids(random, size);
      const Snapshot snapshot =
          generator.prefill(with_ids(prefix), GetParam().make(generator.model()->kv_spec()));
      ASSERT_EQ(snapshot.kind(), GetParam().name);
      for (const std::size_t more : {0u, 1u, 9u}) {
        const TokenIds tail = random_ids(random, more);
        Request request = with_ids(tail);
        request.snapshot = snapshot;
        const Result warm = generator.generate(request);
        const Result cold = uncached(generator, with_ids(joined(prefix, tail)), GetParam().make);
        ASSERT_EQ(warm.ids, cold.ids) << name << " " << size << "+" << more;
        ASSERT_EQ(warm.chosen_logprobs, cold.chosen_logprobs) << "bit for bit";
        ASSERT_EQ(warm.cache.reused.snapshot, static_cast<std::int64_t>(size));
        ASSERT_EQ(warm.usage.cached_tokens, static_cast<std::int64_t>(size));
        ASSERT_EQ(warm.usage.prompt_tokens, static_cast<std::int64_t>(size + more));
        ASSERT_EQ(warm.cache.length, static_cast<std::int64_t>(size + more + 5));
        ASSERT_EQ(warm.cache.kv, GetParam().name);
        ASSERT_EQ(warm.cache.why_not_more.reason,
                  more < 2 ? MissReason::kNone : MissReason::kEndOfStored);
      }
    }
  }
}

// The reuse of a part: exact where the class can go back, nothing where it cannot.
TEST_P(SnapshotKinds, ADivergingContinuationIsExact) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  std::mt19937 random(6);
  const TokenIds prefix = random_ids(random, 90);
  const Snapshot snapshot =
      generator.prefill(with_ids(prefix), GetParam().make(generator.model()->kv_spec()));
  for (const std::size_t shared : {0u, 1u, 20u, 40u, 80u, 89u}) {
    TokenIds text(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(shared));
    text.push_back(prefix[shared] == 9 ? 10 : 9);
    text = joined(text, random_ids(random, 7));
    const std::unique_ptr<KvCache> part = snapshot.fork(static_cast<std::int64_t>(shared));
    const Result cold = uncached(generator, with_ids(text), GetParam().make);
    if (part) {
      ASSERT_EQ(part->length(), static_cast<std::int64_t>(shared));
      Request rest =
          with_ids(TokenIds(text.begin() + static_cast<std::ptrdiff_t>(shared), text.end()));
      rest.cache = part.get();
      const Result warm = generator.generate(rest);
      ASSERT_EQ(warm.ids, cold.ids);
      ASSERT_EQ(warm.chosen_logprobs, cold.chosen_logprobs) << GetParam().name << shared;
    }
  }
  EXPECT_EQ(snapshot.fork(91), nullptr);
  EXPECT_EQ(snapshot.fork(0)->length(), 0);
  EXPECT_EQ(snapshot.fork(0)->kind(), GetParam().name);
}

INSTANTIATE_TEST_SUITE_P(Kinds, SnapshotKinds, ::testing::ValuesIn(kKinds),
                         [](const auto& kind) { return std::string(kind.param.name); });

TEST(Snapshot, TextsAreTokenisedAsOne) {
  Generator generator(smollm2());
  // "Hel" + "lo" are other tokens than "Hello": part of the snapshot is cut off.
  for (const auto& [first, second] :
       {std::pair("Once upon a time. Hel", "lo world"), std::pair("1, 2, 3, 4", "5, 6"),
        std::pair("Trailing ", " blanks"), std::pair("caf\xC3", "\xA9 au lait")}) {
    Request start;
    start.prompt = first;
    Request request = settings(8);
    request.prompt = second;
    request.snapshot = generator.prefill(start);
    const Result warm = generator.generate(request);
    request.prompt = std::string(first) + second;
    request.snapshot = {};
    EXPECT_EQ(warm.ids, generator.generate(request).ids) << first << second;
    EXPECT_EQ(warm.usage.prompt_tokens, std::ssize(generator.tokenize(request)));
    EXPECT_GT(warm.usage.cached_tokens, 0);
  }
}

TEST(Snapshot, MessagesAreReadWhole) {
  Generator generator(smollm2());
  Request start;
  start.messages = {{"system", "Answer in one word."}};
  const Snapshot snapshot = generator.prefill(start);
  Request request = settings(8);
  request.messages = {{"system", "Answer in one word."}, {"user", "The capital of France?"}};
  const Result cold = generator.generate(request);
  request.snapshot = snapshot;
  const Result warm = generator.generate(request);
  EXPECT_EQ(warm.ids, cold.ids);
  EXPECT_EQ(warm.usage.cached_tokens, std::ssize(snapshot.ids()));
  EXPECT_EQ(warm.cache.why_not_more.reason, MissReason::kEndOfStored);
  EXPECT_EQ(warm.cache.why_not_more.at, std::ssize(snapshot.ids()));
}

TEST(Snapshot, AWindowThatMovedOnIsReadAgain) {
  Generator generator(smollm2());
  const MakeCache make = [](const KvSpec& spec) {
    return std::make_unique<SlidingCache>(
        spec, SlidingCacheOptions{.window = 24, .pages = {.block_size = 16}});
  };
  std::string rules = "Rule one is to answer in one word. ";
  for (int i = 0; i < 3; ++i) rules += rules;
  Request start;
  start.messages = {{"system", rules}};
  Request request = settings(8);
  request.messages = {{"system", "No. " + rules}, {"user", "The capital of France?"}};
  const Result cold = uncached(generator, request, make);
  request.snapshot = generator.prefill(start, make(generator.model()->kv_spec()));
  const Result warm = generator.generate(request);
  EXPECT_EQ(warm.ids, cold.ids);
  EXPECT_EQ(warm.cache.kv, "sliding");
  EXPECT_EQ(warm.usage.cached_tokens, 0);
  EXPECT_EQ(warm.cache.why_not_more.reason, MissReason::kEvicted);
}

TEST(Snapshot, ThreadsForkOneSnapshot) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  std::mt19937 random(8);
  const TokenIds prefix = random_ids(random, 50);
  const Snapshot snapshot = generator.prefill(with_ids(prefix));
  Request probe = with_ids({});
  probe.snapshot = snapshot;
  const Result before = generator.generate(probe);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      Generator own(model, {.threads = 1});
      std::mt19937 mine(t);
      for (int i = 0; i < 13; ++i) {
        const TokenIds tail = random_ids(mine, 1 + mine() % 20);
        Request request = with_ids(tail);
        request.snapshot = snapshot;
        const Result warm = own.generate(request);
        EXPECT_EQ(warm.chosen_logprobs,
                  own.generate(with_ids(joined(prefix, tail))).chosen_logprobs);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(generator.generate(probe).chosen_logprobs, before.chosen_logprobs);
}

TEST(Snapshot, SnapshotsAreContinuedBySnapshots) {
  Generator generator(smollm2());
  Request one;
  one.prompt = "The first document is short.";
  const Snapshot first = generator.prefill(one);
  Request two;
  two.prompt = "\n\nThe second is shorter.";
  two.snapshot = first;
  const Snapshot both = generator.prefill(two);
  EXPECT_EQ(both.text(), *one.prompt + *two.prompt);
  one.prompt = *both.text();
  const Snapshot at_once = generator.prefill(one);
  EXPECT_TRUE(std::ranges::equal(both.ids(), at_once.ids()));
  EXPECT_TRUE(std::ranges::equal(both.logits(), at_once.logits())) << "bit for bit";
}

TEST(Snapshot, NothingCrossesModelsAndScopes) {
  Generator llama(tiny_model("llama"), {.threads = 1});
  Generator other(tiny_model("llama-llama3"), {.threads = 1});
  Request request = with_ids({5});
  request.snapshot = llama.prefill(with_ids({5, 6, 7}));
  EXPECT_EQ(code_of([&] { other.generate(request); }), ErrorCode::kInvalidArgument);
  request.scope.salt = "tenant-a";
  EXPECT_EQ(code_of([&] { llama.generate(request); }), ErrorCode::kInvalidArgument);
  request.scope = {};
  EXPECT_EQ(llama.generate(request).usage.cached_tokens, 3);
}

TEST(Snapshot, WhatMakesNoSenseIsRefused) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  const Snapshot snapshot =
      generator.prefill(with_ids({5, 6, 7}), kKinds[1].make(model->kv_spec()));
  DynamicCache cache(model->kv_spec());
  Request request = with_ids({5});
  request.snapshot = snapshot;
  request.cache = &cache;
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kInvalidArgument);
  request.cache = nullptr;
  request.max_new_tokens = 197;
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kContextOverflow);
  EXPECT_EQ(code_of([&] {
              generator.prefill(with_ids(TokenIds(201, 5)), kKinds[1].make(model->kv_spec()));
            }),
            ErrorCode::kContextOverflow);
  EXPECT_EQ(code_of([&] {
              generator.prefill(with_ids({5, 1000000}));
            }),
            ErrorCode::kInvalidArgument);
  Session session(generator);
  Request settings;
  settings.snapshot = snapshot;
  EXPECT_EQ(code_of([&] { session.say("Hi", settings); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { Snapshot(SnapshotParts{}); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quire
