// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/error.h>
#include <quire/knowledge_cache.h>
#include <quire/quantized_cache.h>
#include <quire/static_cache.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/generate/models.h"

namespace quire {
namespace {

namespace fs = std::filesystem;
using test::code_of;
using test::smollm2;

const std::string kManual =
    "The Foo 3000 is a kettle. To reset it, hold the blue button for nine seconds. "
    "Its tank holds two litres. The lid opens to the left.";
const std::string kWarranty = "The warranty lasts for five years.";

Request settings(std::int64_t tokens = 6) {
  Request request;
  request.max_new_tokens = tokens;
  request.prefix_cache = false;
  return request;
}

class Knowledge : public ::testing::TestWithParam<bool> {};

TEST_P(Knowledge, QuestionsAreIndependent) {
  Generator generator(smollm2());
  const KnowledgeCache manual(generator, {.texts = {kManual, kWarranty}, .chat = GetParam()});
  const std::int64_t length = manual.length();
  const std::int64_t bytes = manual.bytes();
  const auto question = [](int i) {
    return "Question " + std::to_string(i) + ": how to reset it?";
  };
  const Result first = manual.ask(question(19), settings());
  for (int i = 0; i < 20; ++i) {
    const Result answer = manual.ask(question(i), settings());
    EXPECT_EQ(manual.length(), length);
    EXPECT_EQ(manual.bytes(), bytes);
    EXPECT_EQ(answer.usage.cached_tokens, length);
    EXPECT_EQ(answer.cache.reused.snapshot, length);
    EXPECT_LT(answer.usage.prompt_tokens - length, 30);
    if (i == 19) {
      EXPECT_EQ(answer.ids, first.ids);
    }
  }
  // As if all had been read for it.
  EXPECT_EQ(generator.generate(manual.request(question(19), settings())).ids, first.ids);
}

INSTANTIATE_TEST_SUITE_P(Prompts, Knowledge, ::testing::Bool(),
                         [](const auto& chat) { return chat.param ? "chat" : "text"; });

TEST(Knowledge, AnAnswerEndsAtEos) {
  Generator generator(smollm2());
  const KnowledgeCache manual(generator, {.texts = {kManual}});
  const std::int64_t length = manual.length();
  const Result answer = manual.ask("What is the Foo 3000?", settings(60));
  EXPECT_EQ(answer.finish_reason, FinishReason::kEos);
  EXPECT_EQ(answer.ids.back(), smollm2()->tokenizer()->eos().front());
  EXPECT_FALSE(answer.text.empty());
  EXPECT_EQ(manual.length(), length);
}

TEST(Knowledge, IsKeptFromRunToRun) {
  const fs::path folder = fs::path(::testing::TempDir()) / "quire_knowledge";
  fs::remove_all(folder);
  fs::create_directories(folder);
  const fs::path file = folder / "manual.txt";
  std::ofstream(file) << kManual;
  KnowledgeOptions options = {.files = {file}, .texts = {kWarranty}, .snapshot = folder / "kept"};
  Generator generator(smollm2());
  const auto answer = [&](bool loaded) {
    const KnowledgeCache manual(generator, options);
    EXPECT_EQ(manual.loaded(), loaded);
    return manual.ask("How to reset it?", settings()).ids;
  };
  const TokenIds first = answer(false);
  EXPECT_EQ(answer(true), first);
  options.texts[0] = "There is no warranty.";
  answer(false);  // other documents
  answer(true);
  std::ofstream(options.snapshot) << "no snapshot";
  EXPECT_EQ(code_of([&] { KnowledgeCache(generator, options); }), ErrorCode::kCorrupt);
  fs::remove_all(folder);
}

// Questions continue the text, so that equal ids without it will not do.
TEST(Knowledge, AFileWithoutItsTextIsReadAnew) {
  const fs::path file = fs::path(::testing::TempDir()) / "quire_knowledge_ids";
  Generator generator(smollm2());
  const KnowledgeOptions options = {.texts = {kManual}, .chat = false, .snapshot = file};
  fs::remove(file);
  const TokenIds ids = [&] {
    const KnowledgeCache manual(generator, options);
    const std::span<const TokenId> read = manual.snapshot().ids();
    return TokenIds(read.begin(), read.end());
  }();
  Request by_ids;
  by_ids.ids = ids;
  generator.prefill(by_ids).save(file);
  const KnowledgeCache manual(generator, options);
  EXPECT_FALSE(manual.loaded());
  EXPECT_EQ(manual.ask("How to reset it?", settings()).usage.cached_tokens, manual.length());
  fs::remove(file);
}

TEST(Knowledge, LivesInAnyCache) {
  Generator generator(smollm2());
  const KvSpec& spec = smollm2()->kv_spec();
  const KnowledgeOptions options = {.texts = {kManual, kManual, kManual, kManual}};
  const KnowledgeCache dynamic(generator, options);
  const KnowledgeCache fixed(generator, options,
                             std::make_unique<StaticCache>(spec, StaticCacheOptions{400}));
  const KnowledgeCache small(generator, options, std::make_unique<QuantizedCache>(spec));
  const Result answer = dynamic.ask("How to reset it?", settings());
  EXPECT_EQ(fixed.ask("How to reset it?", settings()).ids, answer.ids);
  EXPECT_EQ(fixed.ask("How to reset it?", settings()).cache.kv, "static");
  EXPECT_EQ(small.ask("How to reset it?", settings()).cache.kv, "quantized");
  EXPECT_EQ(small.ask("How to reset it?", settings()).usage.cached_tokens, small.length());
  EXPECT_LT(small.bytes(), dynamic.bytes());
}

TEST(Knowledge, RefusesWhatMakesNoSense) {
  Generator generator(smollm2());
  EXPECT_EQ(code_of([&] { KnowledgeCache(generator, {}); }), ErrorCode::kInvalidArgument);
  EXPECT_EQ(code_of([&] { KnowledgeCache(generator, {.files = {"/no/such/file"}}); }),
            ErrorCode::kNotFound);
  const KnowledgeCache manual(generator, {.texts = {"Short."}});
  Request request = settings();
  request.prompt = "Hi";
  EXPECT_EQ(code_of([&] { manual.ask("Hi?", request); }), ErrorCode::kInvalidArgument);
}

}  // namespace
}  // namespace quire
