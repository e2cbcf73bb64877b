// SPDX-License-Identifier: Apache-2.0
// A draft changes how soon an answer is there, and nothing else.
#include "generate/draft.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <random>

#include "tests/generate/models.h"

namespace quire {
namespace {

using test::code_of;
using test::smollm2;
using test::tiny_model;
using testing::ElementsAre;
using testing::IsEmpty;

void take(Draft& draft, const TokenIds& ids) {
  for (const TokenId id : ids) draft.take(id);
}

TEST(Draft, GrowsWhileItIsRight) {
  TokenIds answer(200);
  std::iota(answer.begin(), answer.end(), 0);
  Draft draft(answer, std::nullopt);
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at < answer.size();) {
    const TokenIds proposed = draft.propose(1000);
    sizes.push_back(std::ssize(proposed));
    ASSERT_TRUE(std::ranges::equal(proposed, std::span(answer).subspan(at, proposed.size())));
    take(draft, proposed);
    draft.judge(std::ssize(proposed), std::ssize(proposed));
    at += proposed.size();
  }
  EXPECT_THAT(sizes, ElementsAre(4, 8, 16, 32, 32, 32, 32, 32, 12));
  EXPECT_THAT(draft.propose(1000), IsEmpty());
}

TEST(Draft, IsFoundAgainAfterAnotherWord) {
  Draft draft({1, 2, 3, 4, 5, 6, 7}, std::nullopt);
  EXPECT_THAT(draft.propose(2), ElementsAre(1, 2));
  take(draft, {1, 2, 9});
  draft.judge(2, 2);
  EXPECT_THAT(draft.propose(9), IsEmpty());
  take(draft, {4});
  EXPECT_THAT(draft.propose(9), IsEmpty());
  take(draft, {5});
  EXPECT_THAT(draft.propose(9), ElementsAre(6, 7));
}

TEST(Draft, ReadsThePromptWhenAsked) {
  const TokenIds prompt = {1, 2, 3, 4, 5, 1, 2, 3, 6, 7, 1, 2};
  Draft draft({}, prompt);
  EXPECT_THAT(draft.propose(9), IsEmpty()) << "5, 1, 2 came once";
  draft.take(3);
  EXPECT_THAT(draft.propose(9), ElementsAre(6, 7, 1, 2)) << "the latest 1, 2, 3";
  EXPECT_THAT(Draft({}, std::nullopt).propose(9), IsEmpty());
}

TEST(Draft, GivesUpWhenItIsAlwaysWrong) {
  Draft draft({}, TokenIds(20, 7));
  int proposals = 0;
  for (int step = 0; step < 1000; ++step) {
    const TokenIds proposed = draft.propose(9);
    if (!proposed.empty()) ++proposals;
    draft.take(7);  // so there always is something to propose
    draft.judge(std::ssize(proposed), 0);
  }
  EXPECT_EQ(proposals, 8) << "with pauses of 4, 8, … 512 tokens between them";
}

// --- Through the generator.

using Random = std::mt19937;

TokenIds random_ids(Random& random, std::size_t count) {
  TokenIds ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>(3 + random() % 60));
  return ids;
}

// Drafts of every quality, made from the right answer.
TokenIds spoilt(const TokenIds& answer, int how, Random& random) {
  TokenIds draft = answer;
  const auto place = [&] {
    return draft.begin() + static_cast<std::ptrdiff_t>(random() % draft.size());
  };
  switch (how) {
    case 0:
      return draft;
    case 1:
      return random_ids(random, 1 + random() % 60);
    case 2:
      draft.resize(1 + random() % draft.size());
      return draft;
    case 3: {
      const TokenIds more = random_ids(random, 20);
      draft.insert(draft.end(), more.begin(), more.end());
      return draft;
    }
    case 4:
      for (int i = 0; i < 4; ++i) *place() = static_cast<TokenId>(3 + random() % 60);
      return draft;
    case 5:
      draft.insert(place(), 9);
      draft.erase(place());
      return draft;
    default:
      draft.erase(draft.begin(), place());
      return draft;
  }
}

using MakeCache = std::function<std::unique_ptr<KvCache>(const Model&, std::int64_t tokens)>;

const std::map<std::string, MakeCache>& caches() {
  static const std::map<std::string, MakeCache> makers = {
      {"own", [](const Model&, std::int64_t) { return nullptr; }},
      {"dynamic",
       [](const Model& m, std::int64_t) { return std::make_unique<DynamicCache>(m.kv_spec()); }},
      {"pages for the answer and no more",
       [](const Model& m, std::int64_t tokens) {
         // Of windowed layers the generator keeps a way back, and that is a page.
         const bool windowed = std::ranges::any_of(
             m.kv_spec().layers, [](const KvLayer& layer) { return layer.window > 0; });
         const std::int64_t pages = (tokens + 31) / 32 + (windowed ? 1 : 0);
         return std::make_unique<DynamicCache>(
             m.kv_spec(), PagePoolOptions{.max_bytes = pages * 32 * m.kv_spec().bytes_per_token()});
       }},
      {"static",
       [](const Model& m, std::int64_t tokens) {
         return std::make_unique<StaticCache>(m.kv_spec(),
                                              StaticCacheOptions{.max_length = tokens});
       }},
      {"quantized",
       [](const Model& m, std::int64_t) {
         return std::make_unique<QuantizedCache>(m.kv_spec(), QuantizedCacheOptions{.nbits = 8});
       }},
      {"2 bits",
       [](const Model& m, std::int64_t) {
         return std::make_unique<QuantizedCache>(
             m.kv_spec(), QuantizedCacheOptions{.nbits = 2, .residual_length = 64});
       }},
      {"sliding", [](const Model& m, std::int64_t) {
         return std::make_unique<SlidingCache>(
             m.kv_spec(), SlidingCacheOptions{.window = 7, .pages = {.block_size = 16}});
       }}};
  return makers;
}

void expect_same(const Result& with, const Result& without) {
  EXPECT_EQ(with.ids, without.ids);
  EXPECT_EQ(with.chosen_logprobs, without.chosen_logprobs) << "bit for bit";
  EXPECT_EQ(with.finish_reason, without.finish_reason);
  EXPECT_EQ(with.stop, without.stop);
  EXPECT_EQ(with.text, without.text);
  EXPECT_EQ(with.cache.length, without.cache.length);
  EXPECT_EQ(with.usage.total_tokens, without.usage.total_tokens);
  ASSERT_EQ(with.choices.size(), without.choices.size());
  for (std::size_t i = 0; i < with.choices.size(); ++i) {
    EXPECT_EQ(with.choices[i].ids, without.choices[i].ids);
    EXPECT_EQ(with.choices[i].chosen_logprobs, without.choices[i].chosen_logprobs);
  }
}

class DraftModels : public ::testing::TestWithParam<const char*> {
 protected:
  std::shared_ptr<const Model> model_ = tiny_model(GetParam());
  Generator generator_{model_, {.threads = 1, .prefix_cache_bytes = 0}};

  // The answer, and what the model makes of the cache afterwards.
  std::pair<Result, std::vector<float>> run(Request request, const MakeCache& make) {
    const std::int64_t tokens = std::ssize(*request.ids) + request.max_new_tokens;
    const auto cache = make(*model_, tokens);
    request.cache = cache.get();
    Result result = generator_.generate(request);
    std::vector<float> after;
    if (cache && cache->length() + 2 <= std::min(cache->capacity(), model_->config().context)) {
      Request next = request;
      next.ids = TokenIds{result.ids.back()};
      next.max_new_tokens = 1;
      next.n = 1;
      next.draft_ids.clear();
      after = generator_.generate(next).chosen_logprobs;
    }
    return {std::move(result), std::move(after)};
  }
};

TEST_P(DraftModels, EveryDraftGivesThePlainAnswer) {
  Random random(5);
  for (const auto& [name, make] : caches()) {
    const bool paged = name.starts_with("pages");
    for (int round = 0; round < 8; ++round) {
      Request request;
      request.ids = random_ids(random, 1 + random() % 30);
      request.max_new_tokens = 1 + static_cast<std::int64_t>(random() % 65);
      request.sampling = Sampling{};
      if (round % 3 == 1) request.sampling->repetition_penalty = 1.4;
      if (round % 3 == 2) {
        request.sampling = Sampling{.temperature = 0.9, .top_p = 0.9, .seed = random()};
      }
      request.ignore_eos = round % 2 == 0;
      request.eos = std::vector<TokenId>{static_cast<TokenId>(3 + random() % 60)};
      request.logprobs = 1;
      if (round == 7 && !paged) request.n = 3;
      const auto plain = run(request, make);
      for (int how = 0; how < 7; ++how) {
        SCOPED_TRACE(name + ", round " + std::to_string(round) + ", draft " + std::to_string(how));
        request.draft_ids = spoilt(plain.first.ids, how, random);
        request.prompt_lookup = random() % 3 == 0;
        const auto drafted = run(request, make);
        expect_same(drafted.first, plain.first);
        EXPECT_EQ(drafted.second, plain.second) << "what the cache holds";
        EXPECT_LE(drafted.first.usage.accepted_draft_tokens, drafted.first.usage.draft_tokens);
        if (HasFailure()) return;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, DraftModels,
                         ::testing::Values("llama", "mistral-window", "gemma3", "qwen3-moe",
                                           "llama-bf16", "llama-dynamic", "phi3-longrope"),
                         [](const auto& model) {
                           std::string name = model.param;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

Request request_of(TokenIds ids, std::int64_t max_new_tokens) {
  Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = max_new_tokens;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  return request;
}

TEST(DraftUsage, CountsWhatWasProposedAndWhatWasRight) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  Request request = request_of({5, 6, 7}, 65);
  const Result plain = generator.generate(request);
  EXPECT_EQ(plain.usage.draft_tokens, 0);
  request.draft_ids = plain.ids;
  const Result drafted = generator.generate(request);
  // The first token comes from the prompt; then 4 + 1, 8 + 1, 16 + 1 and 32 + 1 tokens.
  EXPECT_EQ(drafted.usage.draft_tokens, 60);
  EXPECT_EQ(drafted.usage.accepted_draft_tokens, 60);
  request.draft_ids.assign(50, (plain.ids[0] + 1) % 64);
  const Result wrong = generator.generate(request);
  EXPECT_EQ(wrong.ids, plain.ids);
  EXPECT_EQ(wrong.usage.accepted_draft_tokens, 0);
}

TEST(DraftUsage, RefusesWhatMakesNoSense) {
  Generator generator(tiny_model("llama"), {.threads = 1});
  Request request = request_of({5, 6, 7}, 4);
  request.draft_ids = {64};
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kInvalidArgument);
  request.draft_ids = {};
  request.draft = "text, but there is no tokenizer";
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kInvalidArgument);
  request.draft_ids = {5};
  EXPECT_EQ(code_of([&] { generator.generate(request); }), ErrorCode::kInvalidArgument);
}

// Texts, stop strings and callbacks.
TEST(SmolLm2Draft, StreamsStopsAndCancelsAsWithoutADraft) {
  Generator generator(smollm2());
  Request request;
  request.prompt = "The capital of France is";
  request.max_new_tokens = 24;
  std::vector<std::string> plain_chunks;
  const Result plain = generator.generate(request, [&](std::string_view chunk) {
    plain_chunks.emplace_back(chunk);
    return Stream::kContinue;
  });
  const auto compare = [&](std::size_t stop_after, Stream wish,
                           const std::vector<std::string>& stop) {
    Request mine = request;
    mine.stop = stop;
    Result results[2];
    std::vector<std::string> chunks[2];
    for (const bool with : {false, true}) {
      mine.draft = with ? plain.text : "";
      results[with] = generator.generate(mine, [&](std::string_view chunk) {
        chunks[with].emplace_back(chunk);
        return chunks[with].size() == stop_after ? wish : Stream::kContinue;
      });
    }
    EXPECT_EQ(chunks[1], chunks[0]);
    expect_same(results[1], results[0]);
    EXPECT_GT(results[1].usage.accepted_draft_tokens, 0);
  };
  compare(0, Stream::kContinue, {});
  compare(4, Stream::kStop, {});
  compare(5, Stream::kCancel, {});
  compare(0, Stream::kContinue, {plain_chunks[4] + plain_chunks[5].substr(0, 1)});
}

}  // namespace
}  // namespace quire
