// SPDX-License-Identifier: Apache-2.0
// A prompt that comes again needs no forward pass where the logits after it are kept.
#include <gtest/gtest.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
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
  request.logprobs = 2;
  return request;
}

class WholePrompts : public ::testing::TestWithParam<const char*> {};

TEST_P(WholePrompts, AnswersAreThoseWithoutACache) {
  const auto model = tiny_model(GetParam());
  PrefixCache prefixes({.block_size = 16, .logits_bytes = 1 << 20});
  Generator warm(model, {.threads = 1, .prefill_chunk = 24, .prefix_cache = &prefixes});
  Generator cold(model, {.threads = 1, .prefix_cache_bytes = 0});
  std::mt19937 random(4);
  for (const std::size_t length : {1u, 2u, 15u, 16u, 17u, 32u, 50u}) {
    Request request = request_of(random_ids(random, length));
    const Result expected = cold.generate(request);
    for (int time = 0; time < 3; ++time) {
      if (time == 2) request.sampling = Sampling{.temperature = 1.2, .seed = 9};
      const Result result = warm.generate(request);
      const auto n = static_cast<std::int64_t>(length);
      if (time > 0) {
        EXPECT_EQ(result.usage.cached_tokens, n);
        EXPECT_EQ(result.cache.why_not_more.reason, MissReason::kNone);
      } else {
        EXPECT_LT(result.usage.cached_tokens, n);
      }
      EXPECT_EQ(result.cache.reused.total(), result.usage.cached_tokens);
      EXPECT_EQ(result.cache.length, n + 5);
      const Result& same = time == 2 ? cold.generate(request) : expected;
      EXPECT_EQ(result.ids, same.ids) << length;
      EXPECT_EQ(result.chosen_logprobs, same.chosen_logprobs) << "bit for bit";
      EXPECT_EQ(result.logprobs, same.logprobs);
    }
  }
  EXPECT_EQ(prefixes.stats().whole_prompts, 7 * 2);
}

INSTANTIATE_TEST_SUITE_P(Models, WholePrompts,
                         ::testing::Values("llama", "mistral-window", "gemma3", "llama-bf16"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST(WholePrompt, SeveralAnswersComeFromIt) {
  const auto model = tiny_model("llama");
  PrefixCache prefixes({.logits_bytes = 1 << 20});
  Generator warm(model, {.threads = 1, .prefix_cache = &prefixes});
  Request request = request_of({5, 6, 7, 8});
  request.n = 3;
  request.sampling = Sampling{.temperature = 1.0, .seed = 3};
  const Result first = warm.generate(request);
  const Result second = warm.generate(request);
  EXPECT_EQ(second.usage.cached_tokens, 4);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(second.choices[i].ids, first.choices[i].ids);
}

TEST(WholePrompt, OneShotsAndCancelledRequestsLeaveNone) {
  PrefixCache prefixes({.logits_bytes = 1 << 20});
  Generator generator(tiny_model("llama"), {.threads = 1, .prefix_cache = &prefixes});
  Request request = request_of({5, 6, 7, 8});
  request.one_shot = true;
  generator.generate(request);
  request.one_shot = false;
  request.deadline = std::chrono::steady_clock::now();
  generator.generate(request);
  EXPECT_EQ(prefixes.stats().logits_bytes, 0);
  request.deadline.reset();
  generator.generate(request);
  request.scope.salt = "other";
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 0);
  request.scope = {};
  request.one_shot = true;
  EXPECT_EQ(generator.generate(request).usage.cached_tokens, 4) << "may use what is there";
}

}  // namespace
}  // namespace quire
