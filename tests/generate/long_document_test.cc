// SPDX-License-Identifier: Apache-2.0
// Long texts that are kept, on the packaged SmolLM2 in its native blocks.
#include <gtest/gtest.h>
#include <malloc.h>
#include <quire/generator.h>
#include <quire/knowledge_cache.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/generate/models.h"

namespace quire {
namespace {

const std::shared_ptr<const Model>& native() {
  static const auto model = Model::load(test::smollm2_file());
  return model;
}

Request settings(std::int64_t tokens) {
  Request request;
  request.max_new_tokens = tokens;
  request.sampling = Sampling{};
  return request;
}

std::string question(int i) { return "How do I reset device number " + std::to_string(i) + "?"; }

// Memory that the process has asked for and not given back.
std::int64_t live_bytes() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<std::int64_t>(info.uordblks + info.hblkhd);
}

TEST(LongDocument, IsTheSameAfterEveryQuestion) {
  Generator generator(native());
  const KnowledgeCache manual(generator, {.files = {QUIRE_TEST_DATA "/manual.txt"}});
  const std::int64_t length = manual.length();
  EXPECT_GE(length, 1500);
  const Result first = manual.ask(question(19), settings(8));
  for (int i = 0; i < 20; ++i) {
    const Result answer = manual.ask(question(i), settings(8));
    ASSERT_EQ(manual.length(), length);
    ASSERT_EQ(std::ssize(manual.snapshot().ids()), length);
    ASSERT_EQ(answer.cache.reused.snapshot, length);
    ASSERT_EQ(answer.cache.length, answer.usage.total_tokens - 1);
    if (i == 19) {
      EXPECT_EQ(answer.ids, first.ids);
      EXPECT_EQ(answer.text, first.text);
    }
  }
}

TEST(LongDocument, AThousandQuestionsTakeNoMemory) {
  Generator generator(native());
  const KnowledgeCache manual(generator, {.files = {QUIRE_TEST_DATA "/manual.txt"}});
  const std::int64_t bytes = manual.bytes();
  std::int64_t before = 0;
  for (int i = 0; i < 1000; ++i) {
    if (i == 10) before = live_bytes();
    manual.ask(question(i), settings(1));
  }
  constexpr std::int64_t kPage = 32 * 23040;  // of the document, which a fork might keep
  EXPECT_LT(live_bytes() - before, kPage);
  EXPECT_EQ(manual.bytes(), bytes);
}

TEST(LongDocument, IsWrittenOnceUnderAMarkAndReadAfterwards) {
  std::string rules;
  for (int i = 0; i < 400; ++i) rules += "You are a precise technical editor. ";
  Generator generator(native());
  const auto ask = [&](const char* content) {
    Request request = settings(2);
    request.messages = {{"system", rules, {}, CacheControl{}}, {"user", content}};
    return generator.generate(request).usage;
  };
  Request system;
  system.messages = {{"system", rules}};
  const std::int64_t p = std::ssize(generator.tokenize(system, /*open_answer=*/false));
  EXPECT_GT(p, 2000);
  const Usage first = ask("Shorten: it is what it is.");
  EXPECT_EQ(first.cache_creation_tokens, p);
  EXPECT_EQ(first.cache_read_tokens, 0);
  EXPECT_EQ(first.uncached_tokens, first.prompt_tokens - p);
  const Usage second = ask("Is this a comma?");
  EXPECT_EQ(second.cache_creation_tokens, 0);
  EXPECT_EQ(second.cache_read_tokens, p);
  EXPECT_EQ(second.uncached_tokens, second.prompt_tokens - p);
  EXPECT_GE(second.cached_tokens, p);
}

}  // namespace
}  // namespace quire
