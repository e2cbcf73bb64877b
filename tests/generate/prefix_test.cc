// SPDX-License-Identifier: Apache-2.0
// Cached equals uncached, through Generator::generate().
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <random>
#include <thread>
#include <vector>

#include "tests/generate/models.h"
#include "tests/generate/random_ids.h"

namespace quire {
namespace {

using test::random_ids;
using test::tiny_model;

Request request_of(TokenIds ids, std::int64_t max_new_tokens = 6) {
  Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = max_new_tokens;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  return request;
}

class PrefixModels : public ::testing::TestWithParam<const char*> {};

TEST_P(PrefixModels, WarmEqualsColdOverRandomFamilies) {
  const auto model = tiny_model(GetParam());
  const std::int64_t page = model->kv_spec().bytes_per_token() * 16;
  std::mt19937 random(11);
  for (const std::int64_t budget : {4 * page, 400 * page}) {
    PrefixCache prefixes({.bytes = budget, .block_size = 16});
    Generator warm(model, {.threads = 1, .prefill_chunk = 24, .prefix_cache = &prefixes});
    Generator cold(model, {.threads = 1, .prefix_cache_bytes = 0});
    std::vector<TokenIds> texts;
    std::int64_t reused = 0;
    for (int step = 0; step < 25; ++step) {
      TokenIds ids;
      if (!texts.empty()) {
        ids = texts[random() % texts.size()];
        ids.resize(random() % (ids.size() + 1));
      }
      const TokenIds more = random_ids(random, 1 + random() % 50);
      ids.insert(ids.end(), more.begin(), more.end());
      const auto room = static_cast<std::size_t>(model->config().context - 10);
      if (ids.size() > std::min<std::size_t>(300, room))
        ids.resize(std::min<std::size_t>(300, room));
      Request request = request_of(ids);
      request.logprobs = 1;
      const Result with = warm.generate(request);
      const Result without = cold.generate(request);
      ASSERT_EQ(with.ids, without.ids) << step;
      ASSERT_EQ(with.chosen_logprobs, without.chosen_logprobs) << "bit for bit, step " << step;
      ASSERT_EQ(with.usage.cached_tokens, with.cache.reused.total());
      ASSERT_EQ(with.cache.length, std::ssize(ids) + 5);
      ASSERT_LE(prefixes.stats().bytes, budget);
      reused += with.usage.cached_tokens;
      TokenIds text = ids;
      text.insert(text.end(), with.ids.begin(), with.ids.end());
      texts.push_back(std::move(text));
    }
    EXPECT_GT(reused, 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, PrefixModels,
                         ::testing::Values("llama", "mistral-window", "gemma2", "gemma3",
                                           "qwen3-moe", "llama-bf16", "llama-llama3",
                                           "llama-dynamic", "phi3-longrope"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(Prefix, TheAnswerIsPartOfTheText) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  const TokenIds prompt = {5, 6, 7, 8, 9};
  const Result first = generator.generate(request_of(prompt, 60));
  EXPECT_EQ(first.cache.why_not_more.reason, MissReason::kCold);
  TokenIds next = prompt;
  next.insert(next.end(), first.ids.begin(), first.ids.end());
  next.push_back(17);
  const Result second = generator.generate(request_of(next));
  EXPECT_EQ(second.usage.cached_tokens, 64) << "everything whose keys and values were computed";
  EXPECT_EQ(second.cache.why_not_more.reason, MissReason::kEndOfStored);
}

TEST(Prefix, RequestsMayStandAside) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  const TokenIds prompt = {5, 6, 7, 8, 9, 10};
  Request request = request_of(prompt);
  request.one_shot = true;
  generator.generate(request);
  EXPECT_EQ(generator.generate(request_of(prompt)).usage.cached_tokens, 0);
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 5);
  request.prefix_cache = false;
  const Result aside = generator.generate(request);
  EXPECT_EQ(aside.usage.cached_tokens, 0);
  EXPECT_EQ(aside.cache.why_not_more.reason, MissReason::kDisabled);
}

TEST(Prefix, ScopesAreApart) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  Request request = request_of({5, 6, 7, 8, 9, 10});
  request.scope.salt = "tenant-a";
  generator.generate(request);
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 5);
  request.scope.salt = "tenant-b";
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 0);
}

TEST(Prefix, ModelsAreApart) {
  PrefixCache prefixes;
  Generator one(tiny_model("llama"), {.threads = 1, .prefix_cache = &prefixes});
  Generator other(tiny_model("llama-llama3"), {.threads = 1, .prefix_cache = &prefixes});
  const Request request = request_of({5, 6, 7, 8, 9, 10});
  one.generate(request);
  EXPECT_EQ(other.generate(request).usage.cached_tokens, 0);
  EXPECT_EQ(one.generate(request).usage.cached_tokens, 5);
}

TEST(Prefix, WhatWasCancelledOrFailedLeavesNoTrace) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  const Request request = request_of({5, 6, 7, 8, 9, 10}, 40);
  if (!generator.model()->tokenizer()) {
    Request late = request;
    late.deadline = std::chrono::steady_clock::now();
    generator.generate(late);
  } else {
    generator.generate(request, [](std::string_view) { return Stream::kCancel; });
    EXPECT_THROW(generator.generate(request, [](std::string_view) -> Stream { throw 7; }), int);
  }
  EXPECT_EQ(generator.prefix_cache()->stats().blocks, 0);
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 0);
}

TEST(Prefix, GeneratorsAndThreadsShareOneCache) {
  const auto model = tiny_model("llama");
  PrefixCache prefixes({.bytes = model->kv_spec().bytes_per_token() * 16 * 8, .block_size = 16});
  Generator cold(model, {.threads = 1, .prefix_cache_bytes = 0});
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Generator warm(model, {.threads = 1, .prefix_cache = &prefixes});
      std::mt19937 random(t);
      for (int step = 0; step < 12; ++step) {
        TokenIds ids(40 + random() % 3 * 10, 9);
        const TokenIds more = random_ids(random, 1 + random() % 20);
        ids.insert(ids.end(), more.begin(), more.end());
        EXPECT_EQ(warm.generate(request_of(ids)).ids, cold.generate(request_of(ids)).ids);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_GT(prefixes.stats().memory_tokens, 0);
}

}  // namespace
}  // namespace quire
