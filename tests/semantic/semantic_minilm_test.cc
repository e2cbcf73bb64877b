// SPDX-License-Identifier: Apache-2.0
// The semantic cache with all-MiniLM-L6-v2. Needs `quire pull minilm`.
#include <gtest/gtest.h>
#include <quire/embedder.h>
#include <quire/semantic_cache.h>

#include <array>
#include <fstream>
#include <string>
#include <vector>

#include "tests/semantic/minilm.h"

namespace quire {
namespace {

std::shared_ptr<const Embedder> minilm() {
  static const std::shared_ptr<const Embedder> embedder = Embedder::load(testing::minilm_path());
  return embedder;
}

TEST(SemanticMiniLm, TheClassicRun) {
  SemanticCache answers(minilm(), {.threshold = 0.95});
  const auto ask = [&](const char* question) {
    SemanticLookup found = answers.lookup(question);
    if (!found) answers.store(question, std::string("the answer to ") + question);
    return found;
  };
  EXPECT_FALSE(ask("How do I reset my password?"));
  const SemanticLookup hit = ask("How can I reset my password?");
  ASSERT_TRUE(hit);
  EXPECT_EQ(hit->response, "the answer to How do I reset my password?");
  EXPECT_EQ(hit->level, AnswerSource::kSemantic);
  EXPECT_NEAR(hit->score, 0.99168, 1e-4);
  const SemanticLookup miss = ask("Is the API rate limited?");
  ASSERT_FALSE(miss);
  EXPECT_EQ(miss.reason(), "below_threshold");
  EXPECT_NEAR(miss.passed_over.at(0).score, 0.01656, 1e-4);
  const SemanticLookup negated = answers.lookup("Is the API not rate limited?");
  EXPECT_EQ(negated.reason(), "polarity");
  EXPECT_NEAR(negated.passed_over.at(0).score, 0.92789, 1e-4);
  answers.store("Refund policy for annual plans", "30 days");
  const SemanticLookup other = answers.lookup("Refund policy for monthly plans");
  EXPECT_EQ(other.reason(), "units");
  EXPECT_NEAR(other.passed_over.at(0).score, 0.9132, 1e-4);
  // The guards, not the threshold.
  const SemanticQuery lenient{.prompt = "Is the API not rate limited?", .threshold = 0.5};
  EXPECT_EQ(answers.lookup(lenient).miss, SemanticMiss::kRefused);
}

TEST(SemanticMiniLm, ChineseNeedsUnknownTokensAllowed) {
  for (const UnknownTokens unknown : {UnknownTokens::kAllow, UnknownTokens::kRefuse}) {
    SemanticCache answers(minilm(), {.threshold = 0.85, .unknown_tokens = unknown});
    answers.store("什么是机器学习？", "ML");
    answers.store("如何学习Python？", "Python");
    const bool allowed = unknown == UnknownTokens::kAllow;
    const SemanticLookup ml = answers.lookup("机器学习是什么？");
    const SemanticLookup python = answers.lookup("Python怎么学？");
    EXPECT_EQ(static_cast<bool>(ml), allowed);
    EXPECT_EQ(static_cast<bool>(python), allowed);
    if (allowed) {
      EXPECT_EQ(ml->response, "ML");
      EXPECT_EQ(python->response, "Python");
      EXPECT_EQ(answers.lookup("今天天气怎么样？").reason(), "below_threshold");
    } else {
      EXPECT_EQ(ml.reason(), "unknown_tokens");
      EXPECT_EQ(answers.lookup("什么是机器学习？")->level, AnswerSource::kExact);
    }
  }
}

// Served shares of {wrong, right} pairs at cosine 0.80.
std::array<double, 2> served(const GuardSet& guards) {
  SemanticCache answers(
      minilm(), {.threshold = 0.80, .guards = guards, .unknown_tokens = UnknownTokens::kAllow});
  std::array<int, 2> rows{};
  std::array<int, 2> hits{};
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/pairs/authored.tsv");
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<std::string> fields;
    for (std::size_t at = 0; at != std::string::npos;) {
      const std::size_t end = line.find('\t', at);
      fields.push_back(line.substr(at, end - at));
      at = end == std::string::npos ? end : end + 1;
    }
    const std::size_t label = fields.at(2) == "1" ? 1 : 0;
    answers.clear();
    answers.store(fields.at(3), "x");
    ++rows.at(label);
    if (answers.lookup(fields.at(4))) ++hits.at(label);
  }
  return {static_cast<double>(hits[0]) / rows[0], static_cast<double>(hits[1]) / rows[1]};
}

TEST(SemanticMiniLm, GuardsKeepRightPairsAndRefuseWrongOnes) {
  const auto [bare_wrong, bare_right] = served(GuardSet::none());
  EXPECT_NEAR(bare_wrong, 0.679, 0.001);
  EXPECT_NEAR(bare_right, 0.946, 0.001);
  const auto [wrong, right] = served({});
  EXPECT_LE(wrong, 0.04);
  EXPECT_GE(right, 0.82);
}

}  // namespace
}  // namespace quire
