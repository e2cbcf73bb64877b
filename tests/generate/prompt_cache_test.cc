// SPDX-License-Identifier: Apache-2.0
// PromptCache with a generator.
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prompt_cache.h>
#include <quire/static_cache.h>

#include <atomic>
#include <chrono>
#include <optional>

#include "tests/generate/counting_cache.h"
#include "tests/generate/models.h"

namespace quire {
namespace {

using test::smollm2;

Request prompt(const std::string& text) {
  Request request;
  request.prompt = text;
  request.max_new_tokens = 6;
  request.logprobs = 1;
  return request;
}

Request streamed_prompt(const std::string& text) {
  Request request = prompt(text);
  request.ignore_eos = true;
  return request;
}

const std::string kPrefix = "You are a careful assistant. Answer in one short sentence.";

TEST(PromptCache, ComputesAPromptOnce) {
  Generator generator(smollm2());
  PromptCache prompts;
  const Snapshot snapshot = prompts.prefill(generator, prompt(kPrefix));
  EXPECT_TRUE(prompts.contains(PromptCache::content_key(snapshot)));
  EXPECT_EQ(prompts.prefill(generator, prompt(kPrefix)), snapshot);
  EXPECT_EQ(prompts.stats().hits, 1);
  const Snapshot longer = prompts.prefill(generator, prompt(kPrefix + " Be kind."));
  EXPECT_EQ(longer.text(), kPrefix + " Be kind.");
  EXPECT_EQ(prompts.stats().entries, 2);
  const Snapshot alone = generator.prefill(prompt(kPrefix + " Be kind."));
  EXPECT_TRUE(std::ranges::equal(longer.ids(), alone.ids()));
  EXPECT_TRUE(std::ranges::equal(longer.logits(), alone.logits())) << "bit for bit";
}

TEST(PromptCache, ReusesWhatAPromptHasInCommon) {
  Generator generator(smollm2());
  PromptCache prompts;
  auto count = std::make_shared<std::atomic<std::int64_t>>(0);
  const KvSpec& spec = smollm2()->kv_spec();
  prompts.prefill(
      generator, prompt(kPrefix),
      std::make_unique<test::CountingCache>(std::make_unique<DynamicCache>(spec), count));
  *count = 0;
  const Snapshot other = prompts.prefill(generator, prompt("You are a careful driver."));
  const Snapshot alone = generator.prefill(prompt("You are a careful driver."));
  EXPECT_EQ(other.kind(), "counting");
  EXPECT_EQ(*count, std::ssize(other.ids()) - 4);
  EXPECT_TRUE(std::ranges::equal(other.logits(), alone.logits())) << "bit for bit";
}

// Behind a generator, its snapshots serve every request that begins alike.
TEST(PromptCache, StandsBehindAGenerator) {
  PromptCache prompts;
  Generator generator(smollm2(), {.prompt_cache = &prompts});
  Generator cold(smollm2(), {.prefix_cache_bytes = 0});
  EXPECT_EQ(generator.prompt_cache(), &prompts);
  const Snapshot snapshot = prompts.prefill(generator, prompt(kPrefix));
  const std::int64_t p = std::ssize(snapshot.ids());
  for (const bool prefix_cache : {false, true}) {
    Request request = prompt(kPrefix + " Name one ocean.");
    request.prefix_cache = prefix_cache;
    const Result warm = generator.generate(request);
    EXPECT_EQ(warm.cache.reused.snapshot, p);
    EXPECT_EQ(warm.chosen_logprobs, cold.generate(request).chosen_logprobs);
  }
  Request other = prompt("Say it.");
  EXPECT_EQ(generator.generate(other).usage.cached_tokens, 0);
  EXPECT_GT(generator.generate(other).cache.reused.total(), 0) << "by the prefix cache";
}

// What goes on from a snapshot gives the prefix cache nothing that others could wait for.
TEST(PromptCache, WhoeverIsServedHoldsNobodyUp) {
  PromptCache prompts;
  Generator generator(smollm2(), {.prompt_cache = &prompts});
  const std::string text = kPrefix + " " + kPrefix + " " + kPrefix;
  ASSERT_GT(std::ssize(prompts.prefill(generator, prompt(text)).ids()), 32);
  std::optional<Result> inner;
  generator.generate(streamed_prompt(text + " Name one ocean."), [&](std::string_view) {
    if (inner) return Stream::kContinue;
    Request other = streamed_prompt(text + " Name one sea.");
    other.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    inner = generator.generate(other);
    return Stream::kContinue;
  });
  ASSERT_TRUE(inner);
  EXPECT_EQ(inner->finish_reason, FinishReason::kLength);
}

TEST(PromptCache, ASnapshotWithoutRoomIsPassedOver) {
  PromptCache prompts;
  Generator generator(smollm2(), {.prompt_cache = &prompts});
  Generator cold(smollm2(), {.prefix_cache_bytes = 0});
  const std::int64_t p = std::ssize(generator.prefill(prompt(kPrefix)).ids());
  prompts.prefill(
      generator, prompt(kPrefix),
      std::make_unique<StaticCache>(smollm2()->kv_spec(), StaticCacheOptions{.max_length = p + 8}));
  Request request = prompt(kPrefix + " Name one ocean.");
  request.prefix_cache = false;
  request.max_new_tokens = 3;
  EXPECT_EQ(generator.generate(request).cache.reused.snapshot, p);
  request.max_new_tokens = 40;
  const Result result = generator.generate(request);
  EXPECT_EQ(result.cache.reused.snapshot, 0);
  EXPECT_EQ(result.ids, cold.generate(request).ids);
  const std::string longer = kPrefix + " Name one ocean, one sea, one lake and one river.";
  EXPECT_EQ(prompts.prefill(generator, prompt(longer)).text(), longer);
}

TEST(PromptCache, NamedSnapshotsAreContinued) {
  Generator generator(smollm2());
  PromptCache prompts;
  prompts.put("careful", generator.prefill(prompt(kPrefix)));
  Request request = prompt(" Name one ocean.");
  request.snapshot = prompts.get("careful");
  const Result warm = generator.generate(request);
  EXPECT_EQ(warm.ids, generator.generate(prompt(kPrefix + " Name one ocean.")).ids);
  EXPECT_EQ(prompts.hits("careful"), 1);
}

}  // namespace
}  // namespace quire
