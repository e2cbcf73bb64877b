// SPDX-License-Identifier: Apache-2.0
// Answers from caches through Generator::generate().
#include "generate/answer_reuse.h"

#include <gtest/gtest.h>
#include <quire/answer_cache.h>
#include <quire/generator.h>
#include <quire/semantic_cache.h>

#include <future>
#include <string>
#include <vector>

#include "tests/generate/models.h"
#include "tests/semantic/fake_embedder.h"

namespace quire {
namespace {

using test::smollm2;
using test::tiny_model;
using testing::FakeEmbedder;

struct Reusing {
  explicit Reusing(std::shared_ptr<const Model> model, const SemanticCacheOptions& options = {})
      : answers(std::make_shared<FakeEmbedder>(), options),
        generator(std::move(model), {.threads = 1, .semantic_cache = &answers}) {}
  SemanticCache answers;
  Generator generator;
};

// A request whose greedy answer ends by itself: its third token is made the end of text.
Request ending_request(Generator& generator, const TokenIds& prompt) {
  Request request;
  request.ids = prompt;
  request.max_new_tokens = 8;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  const Result plain = generator.generate(request);
  request.ignore_eos = false;
  request.eos = std::vector<TokenId>{plain.ids.at(2)};
  request.reuse = AnswerReuse{};
  return request;
}

TEST(AnswerReuse, AnEqualRequestIsAnsweredFromTheCache) {
  Reusing s(tiny_model("llama"));
  const Request request = ending_request(s.generator, {5, 6, 7, 8});
  const Result first = s.generator.generate(request);
  EXPECT_EQ(first.finish_reason, FinishReason::kEos);
  EXPECT_EQ(first.cache.source, AnswerSource::kModel);
  EXPECT_EQ(first.cache.reuse->miss, "nothing_stored");
  const Result again = s.generator.generate(request);
  EXPECT_EQ(again.cache.source, AnswerSource::kExact);
  EXPECT_EQ(again.cache.reuse->miss, "none");
  EXPECT_EQ(again.ids, first.ids);
  EXPECT_EQ(again.finish_reason, first.finish_reason);
  EXPECT_EQ(again.usage.cached_tokens, 4);
  EXPECT_EQ(again.usage.completion_tokens, first.usage.completion_tokens);
  Request plain = request;
  plain.reuse.reset();
  const Result computed = s.generator.generate(plain);
  EXPECT_EQ(computed.cache.source, AnswerSource::kModel);
  EXPECT_FALSE(computed.cache.reuse);
  EXPECT_EQ(computed.ids, first.ids);
}

TEST(AnswerReuse, WhatShapesTheAnswerKeepsAnswersApart) {
  Reusing s(tiny_model("llama"));
  const Request request = ending_request(s.generator, {5, 6, 7, 8});
  s.generator.generate(request);
  const auto differs = [&](const auto& change) {
    Request other = request;
    change(other);
    return s.generator.generate(other).cache.source == AnswerSource::kModel;
  };
  EXPECT_TRUE(differs([](Request& r) { r.ids = TokenIds{5, 6, 7, 9}; }));
  EXPECT_TRUE(differs([](Request& r) { r.max_new_tokens = 9; }));
  EXPECT_TRUE(differs([](Request& r) { r.sampling = Sampling{.repetition_penalty = 1.5}; }));
  EXPECT_TRUE(differs([](Request& r) { r.eos->push_back(1); }));
  EXPECT_TRUE(differs([](Request& r) { r.scope.name_space = "other"; }));
  EXPECT_TRUE(differs([](Request& r) { r.scope.salt = "other"; }));
  EXPECT_TRUE(differs([](Request& r) { r.scope.adapter = "other"; }));
  EXPECT_TRUE(differs([](Request& r) { r.reuse->vary = "other"; }));
  EXPECT_TRUE(differs([](Request& r) { r.logprobs = 1; }));
  EXPECT_TRUE(differs([](Request& r) { r.n = 2; }));
  EXPECT_FALSE(differs([](Request& r) { r.prefix_cache = false; }));
}

TEST(AnswerReuse, UnfinishedAnswersAreNotKept) {
  Reusing s(tiny_model("llama"));
  Request request = ending_request(s.generator, {5, 6, 7, 8});
  request.max_new_tokens = 1;
  EXPECT_EQ(s.generator.generate(request).finish_reason, FinishReason::kLength);
  request.max_new_tokens = 8;
  request.deadline = std::chrono::steady_clock::now();
  EXPECT_EQ(s.generator.generate(request).finish_reason, FinishReason::kDeadline);
  EXPECT_EQ(s.answers.stats().stored, 0);
}

TEST(AnswerReuse, DrawnAnswersOnlyWhenAskedAndBySeed) {
  Reusing s(tiny_model("llama"));
  Request request = ending_request(s.generator, {5, 6, 7, 8});
  request.sampling = Sampling{.temperature = 1e-4, .seed = 1};  // ends as the greedy one does
  s.generator.generate(request);
  EXPECT_FALSE(s.generator.generate(request).cache.reuse);
  request.reuse->sampled = true;
  const Result first = s.generator.generate(request);
  EXPECT_EQ(first.cache.source, AnswerSource::kModel);
  EXPECT_EQ(s.generator.generate(request).cache.source, AnswerSource::kExact);
  request.sampling->seed = 2;
  EXPECT_EQ(s.generator.generate(request).cache.source, AnswerSource::kModel);
}

// How many of 64 equal requests at once ran the model.
int computed_at_once(Generator& generator) {
  const Request request = ending_request(generator, {5, 6, 7, 8});
  std::vector<std::future<Result>> callers;
  for (int i = 0; i < 64; ++i) {
    callers.push_back(std::async(std::launch::async, [&] { return generator.generate(request); }));
  }
  int computed = 0;
  for (auto& caller : callers) {
    const Result result = caller.get();
    EXPECT_EQ(result.ids.size(), 3U);
    if (result.cache.source == AnswerSource::kModel) ++computed;
  }
  return computed;
}

TEST(AnswerReuse, ConcurrentEqualRequestsRunTheModelOnce) {
  Reusing s(tiny_model("llama"));
  EXPECT_EQ(computed_at_once(s.generator), 1);
}

TEST(AnswerReuse, ScopesComeFromTheConversation) {
  const auto model = smollm2();
  Request request;
  request.messages = {
      {"system", "Be brief."}, {"user", "Hi."}, {"assistant", "Hello."}, {"user", "And \"you\"?"}};
  request.reuse = AnswerReuse{};
  const AnswerOptions options;
  const SemanticQuery query = query_of(*model, request, options, {1, 2});
  EXPECT_EQ(query.prompt, "And \"you\"?");
  EXPECT_EQ(query.ids, TokenIds({1, 2}));
  const auto scope = [&](std::size_t message, const char* content) {
    Request other = request;
    other.messages[message].content = content;
    return query_of(*model, other, options, {1, 2}).scope;
  };
  EXPECT_EQ(scope(3, "Other"), query.scope);
  EXPECT_NE(scope(0, "Other").system_prompt, query.scope.system_prompt);
  EXPECT_EQ(scope(0, "Other").history, query.scope.history);
  EXPECT_NE(scope(1, "Other").history, query.scope.history);
  EXPECT_NE(scope(2, "Other").history, query.scope.history);
  request.messages[3] = {"user", "", R"({"content": [{"type": "text", "text": "Parts"}]})"};
  EXPECT_EQ(query_of(*model, request, options, {1}).prompt, "Parts");
}

TEST(AnswerReuse, WhatStandsBesideAQuestionIsPartOfTheScope) {
  const auto model = smollm2();
  const AnswerOptions options;
  const auto scope = [&](const std::vector<Message>& messages) {
    Request request;
    request.messages = messages;
    request.reuse = AnswerReuse{};
    return query_of(*model, request, options, {1, 2}).scope;
  };
  const auto last = [&](const char* fields) { return scope({{"user", "Who am I?", fields}}); };
  const SemanticScope plain = scope({{"user", "Who am I?"}});
  EXPECT_EQ(last(R"({"cache_control": {"type": "ephemeral"}})"), plain);
  EXPECT_NE(last(R"({"name": "alice"})"), plain);
  EXPECT_NE(last(R"({"name": "alice"})"), last(R"({"name": "bob"})"));
  const auto parts = [&](const char* fields) { return scope({{"user", "", fields}}); };
  EXPECT_EQ(parts(R"({"content": [{"type": "text", "text": "Who am I?"}]})"), plain);
  EXPECT_NE(parts(R"({"content": [{"type": "text", "text": "Who am I?"}, {"type": "image"}]})"),
            plain);
  const Message system{"system", "Be brief."};
  const Message hello{"user", "Hello."};
  const Message question{"user", "Who am I?"};
  EXPECT_NE(scope({system, hello, question}), scope({hello, system, question}));
}

TEST(AnswerReuse, IdsThatEndAnAnswerAreNotTextsThatDo) {
  const auto model = smollm2();
  Request request;
  request.prompt = "Count.";
  request.reuse = AnswerReuse{};
  const auto sampling = [&](const std::vector<TokenId>& eos, const std::vector<std::string>& stop) {
    AnswerOptions options;
    options.eos = eos;
    options.stop = stop;
    return query_of(*model, request, options, {1}).scope.sampling;
  };
  EXPECT_NE(sampling({2}, {"3"}), sampling({2, 3}, {}));
}

struct Streamed {
  Result result;
  std::vector<std::string> chunks;
};

Streamed stream(Generator& generator, const Request& request) {
  Streamed streamed;
  streamed.result = generator.generate(request, [&](std::string_view chunk) {
    streamed.chunks.emplace_back(chunk);
    return Stream::kContinue;
  });
  return streamed;
}

TEST(AnswerReuse, AHitStreamsWhatTheModelStreamed) {
  Reusing s(smollm2(), {.threshold = 0.7});
  Request request;
  request.messages = {{"user", "Say the word yes and nothing else"}};
  request.sampling = Sampling{};
  request.max_new_tokens = 64;
  request.stop = {"."};
  request.reuse = AnswerReuse{};
  const Streamed first = stream(s.generator, request);
  ASSERT_NE(first.result.finish_reason, FinishReason::kLength);
  EXPECT_EQ(first.result.cache.source, AnswerSource::kModel);
  const Streamed exact = stream(s.generator, request);
  EXPECT_EQ(exact.result.cache.source, AnswerSource::kExact);
  request.messages[0].content = "say  the word yes and nothing else!";
  const Streamed normal = stream(s.generator, request);
  EXPECT_EQ(normal.result.cache.source, AnswerSource::kNormalized);
  request.messages[0].content = "Say the word yes and nothing more";
  const Streamed near = stream(s.generator, request);
  EXPECT_EQ(near.result.cache.source, AnswerSource::kSemantic);
  EXPECT_EQ(near.result.cache.reuse->matched, "Say the word yes and nothing else");
  for (const Streamed* again : {&exact, &normal, &near}) {
    EXPECT_EQ(again->result.text, first.result.text);
    EXPECT_EQ(again->result.ids, first.result.ids);
    EXPECT_EQ(again->result.finish_reason, first.result.finish_reason);
    EXPECT_EQ(again->result.stop, first.result.stop);
    EXPECT_EQ(again->chunks, first.chunks);
  }
}

TEST(AnswerReuse, AReplayCanBeEnded) {
  Reusing s(smollm2());
  Request request;
  request.messages = {{"user", "What is the capital of France?"}};
  request.sampling = Sampling{};
  request.max_new_tokens = 64;
  request.stop = {"."};
  request.reuse = AnswerReuse{};
  const Result whole = s.generator.generate(request);
  ASSERT_EQ(whole.finish_reason, FinishReason::kStop);
  for (const Stream wish : {Stream::kStop, Stream::kCancel}) {
    const Result part = s.generator.generate(request, [&](std::string_view) { return wish; });
    EXPECT_EQ(part.cache.source, AnswerSource::kExact);
    EXPECT_EQ(part.finish_reason,
              wish == Stream::kStop ? FinishReason::kStop : FinishReason::kCancelled);
    EXPECT_TRUE(whole.text.starts_with(part.text));
    EXPECT_LT(part.text.size(), whole.text.size());
  }
  EXPECT_EQ(s.generator.generate(request).text, whole.text);
}

// A question whose guard objects: the near answer is only a draft, and the output is the model's.
TEST(AnswerReuse, NearAnswersAreDraftsThatTheModelVerifies) {
  Reusing s(smollm2(), {.threshold = 0.5, .near_hits = NearHits::kDraft});
  const auto ask = [](const char* question) {
    Request request;
    request.messages = {{"user", question}};
    request.sampling = Sampling{};
    request.max_new_tokens = 64;
    request.stop = {"."};
    request.reuse = AnswerReuse{};
    return request;
  };
  s.generator.generate(ask("Name a colour of the sky at noon"));
  const Request near = ask("Name 2 colours of the sky at noon");
  const Result drafted = s.generator.generate(near);
  EXPECT_EQ(drafted.cache.source, AnswerSource::kModel);
  EXPECT_EQ(drafted.cache.reuse->passed_over.at(0).guard, "numbers");
  EXPECT_GT(drafted.usage.draft_tokens, 0);
  Request plain = near;
  plain.reuse.reset();
  EXPECT_EQ(s.generator.generate(plain).ids, drafted.ids);
}

// Equal answers without an encoder, and in front of one.
TEST(AnswerReuse, AnAnswerCacheServesEqualRequests) {
  for (const bool both : {false, true}) {
    AnswerCache equal;
    SemanticCache similar(std::make_shared<FakeEmbedder>());
    Generator generator(
        tiny_model("llama"),
        {.threads = 1, .answer_cache = &equal, .semantic_cache = both ? &similar : nullptr});
    const Request request = ending_request(generator, {5, 6, 7, 8});
    const Streamed first = stream(generator, request);
    EXPECT_EQ(first.result.cache.source, AnswerSource::kModel);
    EXPECT_EQ(first.result.cache.reuse->miss, "nothing_stored");
    const Streamed again = stream(generator, request);
    EXPECT_EQ(again.result.cache.source, AnswerSource::kExact);
    EXPECT_EQ(again.result.cache.reuse->miss, "none");
    EXPECT_EQ(again.result.ids, first.result.ids);
    EXPECT_EQ(again.chunks, first.chunks);
    EXPECT_EQ(again.result.usage.cached_tokens, 4);
    EXPECT_EQ(equal.stats().levels.l1_hits, 1);
    EXPECT_EQ(similar.stats().entries, both ? 1 : 0);
    Request other = request;
    other.scope.name_space = "tenant";
    EXPECT_EQ(generator.generate(other).cache.source, AnswerSource::kModel);
    other = request;
    other.reuse->tags = {"v1"};
    EXPECT_EQ(generator.generate(other).cache.source,
              both ? AnswerSource::kExact : AnswerSource::kModel);
    EXPECT_EQ(equal.stats().stored, 2) << "none with a tag";
  }
}

// What was only similar does not come to pass for equal.
TEST(AnswerReuse, ASimilarAnswerIsNotKeptAsAnEqualOne) {
  AnswerCache equal;
  SemanticCache similar(std::make_shared<FakeEmbedder>(), {.threshold = 0.7});
  Generator generator(smollm2(),
                      {.threads = 1, .answer_cache = &equal, .semantic_cache = &similar});
  Request request;
  request.messages = {{"user", "Say the word yes and nothing else"}};
  request.sampling = Sampling{};
  request.max_new_tokens = 64;
  request.stop = {"."};
  request.reuse = AnswerReuse{};
  ASSERT_EQ(generator.generate(request).cache.source, AnswerSource::kModel);
  request.messages[0].content = "Say the word yes and nothing more";
  for (int i = 0; i < 2; ++i) {
    const Result near = generator.generate(request);
    EXPECT_EQ(near.cache.source, AnswerSource::kSemantic);
    EXPECT_EQ(near.cache.reuse->matched, "Say the word yes and nothing else");
  }
  EXPECT_EQ(equal.stats().stored, 1);
}

TEST(AnswerReuse, EqualRequestsAtOnceRunTheModelOnceWithoutAnEncoder) {
  AnswerCache answers;
  Generator generator(tiny_model("llama"), {.threads = 1, .answer_cache = &answers});
  EXPECT_EQ(computed_at_once(generator), 1);
}

}  // namespace
}  // namespace quire
