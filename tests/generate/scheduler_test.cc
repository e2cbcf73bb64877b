// SPDX-License-Identifier: Apache-2.0
// Concurrent requests: one batch for all, and for each the result it would have alone.
#include "generate/scheduler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/quantized_cache.h>
#include <quire/static_cache.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <random>
#include <thread>
#include <utility>

#include "tests/generate/concurrent.h"
#include "tests/generate/models.h"
#include "tests/generate/watched_cache.h"

namespace quire {
namespace {

using namespace std::chrono_literals;
using test::Held;
using test::kModel;
using test::random_ids;
using test::request_of;
using test::tiny_model;
using test::WatchedCache;
using testing::Each;
using testing::Le;

// --- Many requests of every kind.

struct Outcome {
  Result result;
  std::optional<ErrorCode> error;
  bool thrown = false;
  std::int64_t cache_length = -1;
  std::string streamed;
};

struct Case {
  Request request;
  int cache = 0;      // 0: none
  int stream = 0;     // 0: none; 1: plain; 2, 3: stops, cancels after three chunks; 4: throws then
  bool slow = false;  // the callback takes its time
};

std::unique_ptr<KvCache> cache_of(int kind, const Model& model, std::int64_t tokens) {
  const std::int64_t page = model.kv_spec().bytes_per_token() * 32;
  switch (kind) {
    case 1:
      return std::make_unique<DynamicCache>(model.kv_spec());
    case 2:
      return std::make_unique<StaticCache>(model.kv_spec(),
                                           StaticCacheOptions{.max_length = tokens});
    case 3:
      return std::make_unique<QuantizedCache>(model.kv_spec(), QuantizedCacheOptions{.nbits = 8});
    case 4:  // fails in the middle
      return std::make_unique<DynamicCache>(model.kv_spec(), PagePoolOptions{.max_bytes = page});
    default:
      return nullptr;
  }
}

Outcome run(Generator& generator, const Case& c) {
  Request request = c.request;
  const auto cache =
      cache_of(c.cache, *generator.model(), std::ssize(*request.ids) + request.max_new_tokens);
  request.cache = cache.get();
  Outcome outcome;
  int chunks = 0;
  const StreamCallback stream = [&](std::string_view chunk) {
    outcome.streamed += chunk;
    if (c.slow) std::this_thread::sleep_for(300us);
    if (++chunks < 3 || c.stream == 1) return Stream::kContinue;
    if (c.stream == 4) throw std::logic_error("enough");
    return c.stream == 2 ? Stream::kStop : Stream::kCancel;
  };
  try {
    outcome.result = generator.generate(request, c.stream > 0 ? stream : StreamCallback());
  } catch (const Error& error) {
    outcome.error = error.code();
  } catch (const std::logic_error&) {
    outcome.thrown = true;
  }
  if (cache) outcome.cache_length = cache->length();
  return outcome;
}

Case random_case(std::mt19937& random, const std::vector<TokenIds>& prefixes) {
  Case c;
  TokenIds ids = prefixes[random() % prefixes.size()];
  const TokenIds more = random_ids(random, 1 + random() % 20);
  ids.insert(ids.end(), more.begin(), more.end());
  c.request = request_of(ids, 1 + static_cast<std::int64_t>(random() % 40));
  c.request.logprobs = 1;
  if (random() % 2 == 0) {
    c.request.sampling =
        Sampling{.temperature = 1, .top_k = 20, .repetition_penalty = 1.2, .seed = random()};
  }
  if (random() % 2 == 0) c.request.draft_ids = random_ids(random, 30);
  c.request.prompt_lookup = random() % 3 == 0;
  c.cache = static_cast<int>(random() % 6);
  c.stream = static_cast<int>(random() % 6);
  if (c.stream == 5) {
    c.stream = 0;
    c.request.n = c.cache == 0 ? 3 : 1;
  }
  c.slow = random() % 4 == 0;
  return c;
}

void expect_same(const Outcome& together, const Outcome& alone) {
  EXPECT_EQ(together.error, alone.error);
  EXPECT_EQ(together.thrown, alone.thrown);
  EXPECT_EQ(together.cache_length, alone.cache_length);
  EXPECT_EQ(together.streamed, alone.streamed);
  EXPECT_EQ(together.result.text, alone.result.text);
  EXPECT_EQ(together.result.ids, alone.result.ids);
  EXPECT_EQ(together.result.chosen_logprobs, alone.result.chosen_logprobs) << "bit for bit";
  EXPECT_EQ(together.result.finish_reason, alone.result.finish_reason);
  EXPECT_EQ(together.result.cache.length, alone.result.cache.length);
  EXPECT_EQ(together.result.usage.draft_tokens, alone.result.usage.draft_tokens);
  ASSERT_EQ(together.result.choices.size(), alone.result.choices.size());
  for (std::size_t i = 0; i < alone.result.choices.size(); ++i) {
    EXPECT_EQ(together.result.choices[i].ids, alone.result.choices[i].ids);
  }
}

TEST(Scheduler, SixteenThreadsGetWhatEachWouldGetAlone) {
  constexpr std::size_t kThreads = 16;
  constexpr std::size_t kRequests = 8;  // a thread
  const auto model = tiny_model(kModel);
  std::mt19937 random(3);
  std::vector<TokenIds> prefixes = {{}};
  for (const std::size_t size : {20, 50, 70}) prefixes.push_back(random_ids(random, size));
  std::vector<Case> cases;
  for (std::size_t i = 0; i < kThreads * kRequests; ++i) {
    cases.push_back(random_case(random, prefixes));
  }
  Generator alone(model, {.threads = 1, .prefix_cache_bytes = 0});
  std::vector<Outcome> expected;
  for (const Case& c : cases) expected.push_back(run(alone, c));

  Generator generator(model,
                      {.threads = 2, .prefill_chunk = 24, .shared_chunk = 7, .max_batch = 9});
  std::vector<Outcome> outcomes(cases.size());
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < cases.size(); i += kThreads) {
        outcomes[i] = run(generator, cases[i]);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  int failed = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    expect_same(outcomes[i], expected[i]);
    failed += outcomes[i].error == ErrorCode::kOutOfPages ? 1 : 0;
  }
  EXPECT_GT(failed, 0) << "some are to fail, and the others not to notice";
}

TEST(Scheduler, RequestsShareTheirPasses) {
  const auto model = tiny_model(kModel);
  Generator generator(model, {.threads = 1});
  std::atomic<int> in_pass = 0;
  std::atomic<int> most = 0;
  const WatchedCache::Watch watch = [&](std::int64_t tokens) {
    tokens > 0 ? ++in_pass : --in_pass;
    most = std::max(most.load(), in_pass.load());
  };
  Held held(generator, request_of({5, 6, 7}, 2));  // until the others are there
  std::vector<std::future<Result>> results;
  std::vector<std::unique_ptr<KvCache>> caches;
  for (int i = 0; i < 4; ++i) {
    caches.push_back(
        std::make_unique<WatchedCache>(std::make_unique<DynamicCache>(model->kv_spec()), watch));
    Request request = request_of({5, 6, 7, static_cast<TokenId>(8 + i)}, 150);
    request.cache = caches.back().get();
    results.push_back(std::async(std::launch::async,
                                 [&generator, request] { return generator.generate(request); }));
  }
  for (auto& result : results) EXPECT_EQ(result.get().ids.size(), 150u);
  held.let_go();
  EXPECT_GE(most, 2);
}

TEST(Scheduler, ASlowCallbackHoldsNobodyUp) {
  Generator generator(tiny_model(kModel), {.threads = 1});
  Held held(generator, request_of({5, 6, 7}, 20));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(generator.generate(request_of({8, 9}, 30)).ids.size(), 30u);
    std::string text;
    const auto stream = [&](std::string_view chunk) {
      text += chunk;
      return Stream::kContinue;
    };
    EXPECT_EQ(generator.generate(request_of({8, 9, 10}, 30), stream).text, text);
  }
  EXPECT_EQ(held.let_go().ids, generator.generate(request_of({5, 6, 7}, 20)).ids);
}

TEST(Scheduler, ACallbackMayUseTheGenerator) {
  Generator generator(tiny_model(kModel), {.threads = 1});
  std::vector<TokenIds> inner;
  generator.generate(request_of({5, 6, 7}, 3), [&](std::string_view) {
    inner.push_back(generator.generate(request_of({8, 9}, 4)).ids);
    return Stream::kContinue;
  });
  ASSERT_FALSE(inner.empty());
  EXPECT_THAT(inner, Each(generator.generate(request_of({8, 9}, 4)).ids));
}

TEST(Scheduler, LongPromptsAreReadInPiecesBesideOthers) {
  const auto model = tiny_model(kModel);
  Generator generator(model, {.threads = 1, .prefill_chunk = 64, .shared_chunk = 10});
  std::vector<std::int64_t> passes;
  WatchedCache cache(std::make_unique<DynamicCache>(model->kv_spec()), [&](std::int64_t tokens) {
    if (tokens > 0) passes.push_back(tokens);
  });
  Request request = request_of(TokenIds(100, 9), 1);
  request.cache = &cache;
  Held held(generator, request_of({5, 6, 7}, 2));
  generator.generate(request);
  EXPECT_EQ(passes.size(), 10u);
  EXPECT_THAT(passes, Each(Le(10)));
  held.let_go();
  passes.clear();
  generator.generate(request);
  EXPECT_THAT(passes, testing::ElementsAre(64, 36));
}

}  // namespace
}  // namespace quire
