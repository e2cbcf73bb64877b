// SPDX-License-Identifier: Apache-2.0
// Cache marks in messages, and what usage says of them.
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/generator.h>
#include <quire/prompt_cache.h>

#include <chrono>
#include <string>

#include "tests/generate/models.h"

namespace quire {
namespace {

using std::chrono::milliseconds;
using test::code_of;
using test::smollm2;

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

const std::string& rules() {
  static const std::string text = repeated("You are a precise technical editor. ", 10);
  return text;
}

Request ask(std::vector<Message> messages, bool prefix_cache = true) {
  Request request;
  request.messages = std::move(messages);
  request.max_new_tokens = 4;
  request.prefix_cache = prefix_cache;
  request.logprobs = 1;
  return request;
}

Message marked(std::string role, std::string content, milliseconds ttl = std::chrono::minutes(5)) {
  return {std::move(role), std::move(content), {}, CacheControl{ttl}};
}

// Tokens of a conversation that no answer is opened for.
std::int64_t tokens_of(Generator& generator, const std::vector<Message>& messages) {
  return std::ssize(generator.tokenize(ask(messages), false));
}

void expect_usage(const Result& result, std::int64_t read, std::int64_t created) {
  EXPECT_EQ(result.usage.cache_read_tokens, read);
  EXPECT_EQ(result.usage.cache_creation_tokens, created);
  EXPECT_EQ(result.usage.uncached_tokens, result.usage.prompt_tokens - read - created);
  EXPECT_EQ(result.usage.cached_tokens, result.cache.reused.total());
}

class Marks : public ::testing::TestWithParam<bool> {};

// Marks cover the same whether the prefix cache helps or not.
TEST_P(Marks, AreWrittenOnceAndReadAfterwards) {
  Generator generator(smollm2());
  Generator cold(smollm2(), {.prefix_cache_bytes = 0});
  const std::int64_t p = tokens_of(generator, {{"system", rules()}});
  for (const auto& [question, first] :
       {std::pair("Shorten: it is what it is.", true), std::pair("Is this a comma?", false)}) {
    const std::vector<Message> messages = {marked("system", rules()), {"user", question}};
    const Result result = generator.generate(ask(messages, GetParam()));
    expect_usage(result, first ? 0 : p, first ? p : 0);
    EXPECT_EQ(result.usage.prompt_tokens, std::ssize(generator.tokenize(ask(messages))));
    if (!first) {
      EXPECT_GE(result.usage.cached_tokens, p);
      EXPECT_EQ(result.cache.reused.snapshot, GetParam() ? 0 : p);
      EXPECT_NE(result.cache.why_not_more.reason, MissReason::kCold);
    }
    const Result without = cold.generate(ask({{"system", rules()}, {"user", question}}));
    EXPECT_EQ(result.ids, without.ids);
    EXPECT_EQ(result.chosen_logprobs, without.chosen_logprobs) << "bit for bit";
    expect_usage(without, 0, 0);
  }
}

TEST_P(Marks, GrowWithTheConversation) {
  Generator generator(smollm2());
  std::vector<Message> messages = {{"system", rules()}, marked("user", "One?")};
  const std::int64_t one = tokens_of(generator, messages);
  expect_usage(generator.generate(ask(messages, GetParam())), 0, one);
  messages[1].cache_control.reset();
  messages.push_back({"assistant", "One."});
  messages.push_back(marked("user", "Two?"));
  const std::int64_t two = tokens_of(generator, messages);
  expect_usage(generator.generate(ask(messages, GetParam())), one, two - one);
  expect_usage(generator.generate(ask(messages, GetParam())), two, 0);
}

TEST_P(Marks, TheLongestOfUpToFourWins) {
  Generator generator(smollm2());
  const std::vector<Message> messages = {marked("system", rules()),   marked("user", "One?"),
                                         marked("assistant", "One."), marked("user", "Two?"),
                                         {"assistant", "Two."},       {"user", "Three?"}};
  const auto first = [&](std::size_t n) {
    return tokens_of(generator, {messages.begin(), messages.begin() + static_cast<int>(n)});
  };
  expect_usage(generator.generate(ask(messages, GetParam())), 0, first(4));
  for (const std::size_t same : {4u, 3u, 2u, 1u}) {
    std::vector<Message> other = messages;
    if (same < 4) other[same].content += " Or not?";
    const std::int64_t last = tokens_of(generator, {other.begin(), other.begin() + 4});
    expect_usage(generator.generate(ask(other, GetParam())), first(same), last - first(same));
  }
  std::vector<Message> five = messages;
  five[4].cache_control = CacheControl{};
  EXPECT_EQ(code_of([&] { generator.generate(ask(five)); }), ErrorCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(WithPrefixCache, Marks, ::testing::Bool(),
                         [](const auto& on) { return on.param ? "on" : "off"; });

TEST(Marks, BelowTheMinimumKeepNothing) {
  const std::string text = "Edit.";
  Generator measure(smollm2());
  const std::int64_t p = tokens_of(measure, {{"system", text}});
  for (const std::int64_t minimum : {p - 1, p, p + 1}) {
    PromptCache prompts({.min_cacheable = minimum});
    Generator generator(smollm2(), {.prompt_cache = &prompts});
    const Result result = generator.generate(ask({marked("system", text), {"user", "A comma?"}}));
    expect_usage(result, 0, minimum > p ? 0 : p);
    EXPECT_EQ(prompts.stats().entries, minimum > p ? 0 : 1);
    EXPECT_EQ(result.cache.why_not_more.reason,
              minimum > p ? MissReason::kBelowMinimum : MissReason::kCold);
  }
}

TEST(Marks, ExpireAndAreUsedAnew) {
  milliseconds now{1};
  PromptCache prompts({.now = [&] { return now; }});
  Generator generator(smollm2(), {.prefix_cache_bytes = 0, .prompt_cache = &prompts});
  const auto run = [&](const char* question) {
    return generator.generate(
        ask({marked("system", rules(), milliseconds(1000)), {"user", question}}));
  };
  const std::int64_t p = tokens_of(generator, {{"system", rules()}});
  expect_usage(run("A?"), 0, p);
  now += milliseconds(900);
  expect_usage(run("B?"), p, 0);
  now += milliseconds(900);
  expect_usage(run("C?"), p, 0);
  now += milliseconds(1000);
  const Result late = run("D?");
  expect_usage(late, 0, p);
  EXPECT_EQ(late.cache.why_not_more.reason, MissReason::kExpired);
  prompts.clear();
  EXPECT_EQ(run("E?").cache.why_not_more.reason, MissReason::kCold);
}

TEST(Marks, NothingCrossesScopes) {
  Generator generator(smollm2());
  Request request = ask({marked("system", rules()), {"user", "A?"}});
  const std::int64_t p = generator.generate(request).usage.cache_creation_tokens;
  request.scope.salt = "tenant-b";
  expect_usage(generator.generate(request), 0, p);
  expect_usage(generator.generate(request), p, 0);
}

TEST(Marks, StandInJsonAndInParts) {
  Generator generator(smollm2());
  const std::int64_t p = tokens_of(generator, {{"system", rules()}});
  const Message user = {"user", "A comma?"};
  Message message;
  message.fields_json = R"({"role":"system","content":")" + rules() +
                        R"(","cache_control":{"type":"ephemeral","ttl":"1h"}})";
  expect_usage(generator.generate(ask({message, user})), 0, p);
  // The template reads texts only: parts are joined.
  const std::string part = R"({"type":"text","text":")" + rules() + R"(")";
  message.fields_json =
      R"({"role":"system","content":[)" + part + R"(,"cache_control":{"type":"ephemeral"}}]})";
  expect_usage(generator.generate(ask({message, user})), p, 0);
  message.fields_json = R"({"role":"system","content":[)" + part +
                        R"(,"cache_control":{}},{"type":"text","text":"And kind."}]})";
  const Result within = generator.generate(ask({message, user}));
  EXPECT_EQ(within.usage.cache_read_tokens, 0);
  EXPECT_LT(within.usage.cache_creation_tokens, p) << "without the message's end";
  EXPECT_GT(within.usage.cache_creation_tokens, p - 4);
  const Result again = generator.generate(ask({message, {"user", "Another?"}}));
  expect_usage(again, within.usage.cache_creation_tokens, 0);
  EXPECT_EQ(generator.tokenize(ask({message, user})),
            generator.tokenize(ask({{"system", rules() + "And kind."}, user})));
}

TEST(Marks, OfAnotherFormAreRefused) {
  Generator generator(smollm2());
  for (const char* mark :
       {R"("5m")", R"({"type":"for ever"})", R"({"ttl":"5 weeks"})", R"({"ttl":"-5m"})",
        R"({"ttl":0})", R"({"ttl":1.5})", R"({"ttl":"99999999999999999999d"})"}) {
    Message message;
    message.fields_json =
        R"({"role":"user","content":"Hi","cache_control":)" + std::string(mark) + "}";
    EXPECT_EQ(code_of([&] { generator.generate(ask({message})); }), ErrorCode::kInvalidArgument)
        << mark;
  }
  EXPECT_EQ(code_of([&] { generator.generate(ask({marked("user", "Hi", milliseconds(0))})); }),
            ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quire
