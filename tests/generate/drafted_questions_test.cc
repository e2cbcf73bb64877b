// SPDX-License-Identifier: Apache-2.0
// A hundred questions to the packaged SmolLM2 in float32, each with the answer of a near question
// as its draft: the very answer, the near question's own, or that of a question about something
// else.
#include <gtest/gtest.h>
#include <quire/generator.h>

#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "tests/generate/models.h"

namespace quire {
namespace {

constexpr std::size_t kQuestions = 100;

// Pairs of near questions.
std::vector<std::pair<std::string, std::string>> near_questions() {
  std::ifstream file(QUIRE_TEST_DATA "/pairs/authored.tsv");
  std::vector<std::pair<std::string, std::string>> pairs;
  std::string line;
  std::getline(file, line);
  while (pairs.size() < kQuestions && std::getline(file, line)) {
    const std::size_t last = line.rfind('\t');
    const std::size_t before = line.rfind('\t', last - 1);
    pairs.emplace_back(line.substr(before + 1, last - before - 1), line.substr(last + 1));
  }
  return pairs;
}

Result answer(Generator& generator, const std::string& question, const std::string& draft) {
  Request request;
  request.messages = {{"user", question}};
  request.max_new_tokens = 24;
  request.sampling = Sampling{};
  request.draft = draft;
  return generator.generate(request);
}

TEST(DraftedQuestions, GetTheAnswerOfPlainDecoding) {
  Generator generator(test::smollm2(), {.prefix_cache_bytes = 0});
  const auto questions = near_questions();
  ASSERT_EQ(questions.size(), kQuestions);
  std::string elsewhere = "The sky is blue because of how air scatters light.";
  std::int64_t drafted_tokens = 0;
  std::int64_t accepted_tokens = 0;
  for (std::size_t i = 0; i < kQuestions; ++i) {
    const auto& [near, question] = questions[i];
    const Result plain = answer(generator, question, "");
    const std::string drafts[] = {plain.text, answer(generator, near, "").text, elsewhere};
    const Result drafted = answer(generator, question, drafts[i % std::size(drafts)]);
    ASSERT_EQ(drafted.ids, plain.ids) << question;
    ASSERT_EQ(drafted.text, plain.text);
    ASSERT_EQ(drafted.finish_reason, plain.finish_reason);
    ASSERT_EQ(drafted.cache.length, plain.cache.length);
    if (i % std::size(drafts) == 0) {
      drafted_tokens += drafted.usage.draft_tokens;
      accepted_tokens += drafted.usage.accepted_draft_tokens;
    }
    elsewhere = plain.text;
  }
  // The answer itself, though its text may be other tokens than the model chose.
  EXPECT_GT(accepted_tokens * 10, drafted_tokens * 9);
}

}  // namespace
}  // namespace quire
