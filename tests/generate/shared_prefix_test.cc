// SPDX-License-Identifier: Apache-2.0
// Instructions that many requests begin with: computed once, continued by all, changed by none.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/generator.h>
#include <quire/static_cache.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "kv/cache_parts.h"
#include "tests/generate/counting_cache.h"
#include "tests/generate/models.h"

namespace quire {
namespace {

using test::CountingCache;
using test::smollm2;

const std::string kPrefix = "You are a careful assistant. Answer in one short sentence.";
constexpr std::array kQuestions = {" What is the capital of France?", " Name one ocean."};

Request settings(std::int64_t max_new_tokens) {
  Request request;
  request.max_new_tokens = max_new_tokens;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  request.logprobs = 1;
  request.prefix_cache = false;
  return request;
}

class SharedPrefix : public ::testing::TestWithParam<bool> {
 protected:
  static std::unique_ptr<KvCache> make_cache() {
    const KvSpec& spec = smollm2()->kv_spec();
    if (!GetParam()) return std::make_unique<DynamicCache>(spec);
    return std::make_unique<StaticCache>(spec, StaticCacheOptions{.max_length = 1024});
  }

  Snapshot freeze(std::unique_ptr<KvCache> cache) {
    Request start;
    start.prompt = kPrefix;
    return generator_.prefill(start, std::move(cache));
  }

  Result ask(const Snapshot& snapshot, const char* question, std::int64_t tokens) {
    Request request = settings(tokens);
    request.prompt = question;
    request.snapshot = snapshot;
    return generator_.generate(request);
  }

  Result ask_without(const char* question, std::int64_t tokens) {
    Request request = settings(tokens);
    request.prompt = kPrefix + question;
    return generator_.generate(request);
  }

  Generator generator_{smollm2()};
};

TEST_P(SharedPrefix, IsComputedOnceAndAnswersAreThoseWithout) {
  auto count = std::make_shared<std::atomic<std::int64_t>>(0);
  const Snapshot snapshot = freeze(std::make_unique<CountingCache>(make_cache(), count));
  EXPECT_EQ(*count, std::ssize(snapshot.ids()));
  EXPECT_EQ(snapshot.text(), kPrefix);
  for (const char* question : kQuestions) {
    *count = 0;
    const Result warm = ask(snapshot, question, 12);
    EXPECT_EQ(*count, warm.usage.prompt_tokens - std::ssize(snapshot.ids()) + 11);
    const Result cold = ask_without(question, 12);
    EXPECT_EQ(warm.ids, cold.ids);
    EXPECT_EQ(warm.text, cold.text);
    EXPECT_EQ(warm.chosen_logprobs, cold.chosen_logprobs);
    EXPECT_EQ(warm.usage.cached_tokens, std::ssize(snapshot.ids()));
  }
}

// Everything that a cache holds, page by page.
std::vector<std::vector<std::byte>> bytes_of(const KvCache& cache) {
  std::vector<std::vector<std::byte>> pages;
  for (const CacheParts::Page& page : take_apart(cache).pages) {
    const auto* data = static_cast<const std::byte*>(page.bytes.const_data_ptr());
    pages.emplace_back(data, data + page.bytes.numel());
  }
  return pages;
}

TEST_P(SharedPrefix, IsBitUnchangedAfterAHundredForksFromEightThreads) {
  std::unique_ptr<KvCache> cache = make_cache();
  const KvCache& frozen = *cache;
  const Snapshot snapshot = freeze(std::move(cache));
  const auto before = bytes_of(frozen);
  ASSERT_FALSE(before.empty());
  std::array<TokenIds, kQuestions.size()> expected;
  for (std::size_t q = 0; q < kQuestions.size(); ++q) {
    expected[q] = ask_without(kQuestions[q], 2).ids;
  }
  constexpr std::size_t kThreads = 8;
  constexpr std::size_t kForks = 100;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (std::size_t i = t; i < kForks; i += kThreads) {
        const std::size_t q = i % kQuestions.size();
        EXPECT_EQ(ask(snapshot, kQuestions[q], 2).ids, expected[q]) << i;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(frozen.length(), std::ssize(snapshot.ids()));
  EXPECT_EQ(bytes_of(frozen), before) << "bit for bit";
}

INSTANTIATE_TEST_SUITE_P(Caches, SharedPrefix, ::testing::Bool(),
                         [](const auto& on) { return on.param ? "static" : "dynamic"; });

}  // namespace
}  // namespace quire
