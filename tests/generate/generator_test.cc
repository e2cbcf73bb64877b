// SPDX-License-Identifier: Apache-2.0
// The generator on tiny models without a tokenizer, against transformers' greedy ids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/static_cache.h>

#include <thread>

#include "tests/generate/models.h"

namespace quire {
namespace {

using test::code_of;
using test::tiny_model;
using test::tiny_reference;

TokenIds prompt_of(const std::string& name, std::size_t i) {
  return tiny_reference(name).at("prompts")[i].get<TokenIds>();
}

Request request_of(TokenIds ids, std::int64_t max_new_tokens = 12) {
  Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = max_new_tokens;
  request.ignore_eos = true;
  return request;
}

TEST(Generator, EqualsTransformersWithEveryPrefillChunk) {
  for (const char* name : {"llama", "mistral-window", "gemma3"}) {
    for (const std::int64_t chunk : {1, 3, 16, 512}) {
      Generator generator(tiny_model(name), {.threads = 1, .prefill_chunk = chunk});
      const Json& reference = tiny_reference(name);
      for (std::size_t i = 0; i < reference.at("prompts").size(); ++i) {
        SCOPED_TRACE(std::string(name) + " prompt " + std::to_string(i) + " chunk " +
                     std::to_string(chunk));
        const TokenIds prompt = prompt_of(name, i);
        const Result result = generator.generate(request_of(prompt));
        EXPECT_EQ(result.ids, reference.at("greedy")[i].get<TokenIds>());
        EXPECT_EQ(result.finish_reason, FinishReason::kLength);
        EXPECT_EQ(result.cache.length, std::ssize(prompt) + 11);
        EXPECT_EQ(result.usage.total_tokens, std::ssize(prompt) + 12);
      }
    }
  }
}

TEST(Generator, AppendsToTheCallersCache) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  const TokenIds whole = prompt_of("llama", 3);
  DynamicCache cache(model->kv_spec());
  Request request = request_of({whole.begin(), whole.begin() + 10}, 1);
  request.cache = &cache;
  generator.generate(request);
  EXPECT_EQ(cache.length(), 10);
  request = request_of({whole.begin() + 10, whole.end()});
  request.cache = &cache;
  const Result result = generator.generate(request);
  EXPECT_EQ(result.ids, tiny_reference("llama").at("greedy")[3].get<TokenIds>());
  EXPECT_EQ(cache.length(), std::ssize(whole) + 11);
  EXPECT_EQ(result.cache.length, cache.length());
}

TEST(Generator, CountsTheCachesIdsForThePenalty) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  const TokenIds whole = prompt_of("llama", 2);
  Request request = request_of(whole);
  request.sampling = Sampling{.repetition_penalty = 1.7};
  const TokenIds expected = generator.generate(request).ids;
  EXPECT_NE(expected, generator.generate(request_of(whole)).ids);

  DynamicCache cache(model->kv_spec());
  Request first = request_of({whole.begin(), whole.begin() + 9}, 1);
  first.cache = &cache;
  generator.generate(first);
  request.ids = TokenIds(whole.begin() + 9, whole.end());
  request.cache = &cache;
  request.cache_ids = TokenIds(whole.begin(), whole.begin() + 9);
  EXPECT_EQ(generator.generate(request).ids, expected);
}

TEST(Generator, OverflowIsFoundBeforeAnyWork) {
  const auto model = tiny_model("llama");  // 256 tokens of context
  Generator generator(model, {.threads = 1});
  EXPECT_EQ(generator.generate(request_of({5}, 255)).ids.size(), 255u);
  EXPECT_EQ(code_of([&] { generator.generate(request_of({5}, 256)); }),
            ErrorCode::kContextOverflow);
  EXPECT_EQ(code_of([&] {
              generator.generate(request_of({5}, std::numeric_limits<std::int64_t>::max()));
            }),
            ErrorCode::kContextOverflow);
  StaticCache cache(model->kv_spec(), {.max_length = 8});
  Request request = request_of({5, 6}, 7);
  request.cache = &cache;
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kContextOverflow);
  EXPECT_EQ(cache.length(), 0);
  request.max_new_tokens = 6;
  EXPECT_EQ(generator.generate(request).ids.size(), 6u);
}

TEST(Generator, AnEmptyPromptIsBos) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  EXPECT_EQ(generator.tokenize(request_of({})), TokenIds({1}));
  DynamicCache cache(tiny_model("llama")->kv_spec());
  Request request = request_of({4}, 1);
  request.cache = &cache;
  generator.generate(request);
  request.ids = TokenIds();
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kEmptyPrompt);
}

TEST(Generator, RefusesRequestsThatMakeNoSense) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  std::vector<std::pair<std::string, std::function<void(Request&)>>> cases = {
      {"no source", [](Request& r) { r.ids.reset(); }},
      {"two sources", [](Request& r) { r.prompt = "a"; }},
      {"no new tokens", [](Request& r) { r.max_new_tokens = 0; }},
      {"n", [](Request& r) { r.n = 0; }},
      {"logprobs", [](Request& r) { r.logprobs = -1; }},
      {"id", [](Request& r) { r.ids = TokenIds{64}; }},
      {"negative id", [](Request& r) { r.ids = TokenIds{-1}; }},
      {"temperature", [](Request& r) { r.sampling = Sampling{.temperature = -1}; }},
      {"stop without a tokenizer", [](Request& r) { r.stop = {"x"}; }},
      {"prompt without a tokenizer",
       [](Request& r) {
         r.ids.reset();
         r.prompt = "a";
       }},
      {"cache_ids without a cache", [](Request& r) { r.cache_ids = {1}; }}};
  for (const auto& [what, change] : cases) {
    Request request = request_of({5});
    change(request);
    EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kInvalidArgument) << what;
  }
  EXPECT_EQ(generator.generate(request_of({5})).ids.size(), 12u);
}

TEST(Generator, StopsAtEveryEosOfTheList) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  Request request = request_of(prompt_of("llama", 1));
  request.ignore_eos = false;
  request.eos = {{16, 11}};  // the greedy answer holds 11 as its fourth token
  const Result result = generator.generate(request);
  EXPECT_EQ(result.ids, TokenIds({55, 50, 52, 11}));
  EXPECT_EQ(result.finish_reason, FinishReason::kEos);
  EXPECT_EQ(result.cache.length, 7 + 4 - 1);
}

TEST(Generator, AnswersOfOnePrefillAreThoseOfManyRequests) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  Request request = request_of(prompt_of("llama", 2));
  request.n = 3;
  const Result greedy = generator.generate(request);
  ASSERT_EQ(greedy.choices.size(), 3u);
  for (const Choice& choice : greedy.choices) {
    EXPECT_EQ(choice.ids, tiny_reference("llama").at("greedy")[2].get<TokenIds>());
  }
  request.sampling = Sampling{.temperature = 2, .seed = 9};
  const Result drawn = generator.generate(request);
  EXPECT_NE(drawn.choices[0].ids, drawn.choices[1].ids);
  EXPECT_EQ(drawn.usage.completion_tokens, 36);
  request.n = 1;
  EXPECT_EQ(generator.generate(request).ids, drawn.choices[0].ids);
}

// A cache that fails in the middle of a pass, to see what is undone.
TEST(Generator, AFailureLeavesTheCacheAsItWas) {
  for (const char* name : {"llama", "mistral-window", "gemma3"}) {
    SCOPED_TRACE(name);
    const auto model = tiny_model(name);
    Generator generator(model, {.threads = 1, .prefill_chunk = 4});
    const std::int64_t page = DynamicCache(model->kv_spec()).pool()->spec().bytes_per_token() * 32;
    // Room for three pages of every layer, one of them for the copy below: the answer needs more.
    DynamicCache cache(model->kv_spec(), {.max_bytes = 3 * page});
    Request request = request_of({1, 2, 3, 4, 5}, 1);
    request.cache = &cache;
    generator.generate(request);
    const auto before = cache.clone();
    request = request_of(prompt_of(name, 3), 100);
    request.cache = &cache;
    ASSERT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kOutOfPages);
    ASSERT_EQ(cache.length(), 5);

    request = request_of({7, 8}, 8);
    request.cache = &cache;
    const TokenIds after = generator.generate(request).ids;
    request.cache = before.get();
    EXPECT_EQ(after, generator.generate(request).ids);
  }
}

TEST(Generator, ADeadlineEndsTheAnswer) {
  const auto model = tiny_model("llama");
  Generator generator(model, {.threads = 1});
  DynamicCache cache(model->kv_spec());
  Request request = request_of({5, 6, 7});
  request.cache = &cache;
  request.deadline = std::chrono::steady_clock::now();
  const Result result = generator.generate(request);
  EXPECT_EQ(result.finish_reason, FinishReason::kDeadline);
  EXPECT_TRUE(result.ids.empty());
  EXPECT_EQ(cache.length(), 0);
}

TEST(Generator, ServesConcurrentCalls) {
  Generator generator(tiny_model("llama"), {.threads = 2});
  std::vector<TokenIds> answers(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 4; ++i) {
    threads.emplace_back(
        [&, i] { answers[i] = generator.generate(request_of(prompt_of("llama", i % 4))).ids; });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(answers[i], tiny_reference("llama").at("greedy")[i].get<TokenIds>());
  }
}

TEST(Generator, NextLogitsEqualTransformers) {
  Generator generator(tiny_model("llama"), {.threads = 1, .prefill_chunk = 5});
  const auto expected = tiny_reference("llama").at("last_logits")[3].get<std::vector<float>>();
  const auto logits = generator.next_logits(request_of(prompt_of("llama", 3), 1));
  EXPECT_THAT(logits, testing::Pointwise(testing::FloatNear(1e-3f), expected));
}

}  // namespace
}  // namespace quire
