// SPDX-License-Identifier: Apache-2.0
#include "generate/sampler.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "io/json.h"

namespace quire {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

Sampling sampling_of(const Json& row) {
  return {.temperature = row.value("temperature", 0.0),
          .top_k = row.value("top_k", std::int64_t{0}),
          .top_p = row.value("top_p", 1.0),
          .min_p = row.value("min_p", 0.0),
          .repetition_penalty = row.value("repetition_penalty", 1.0)};
}

TEST(Sampler, ProcessesAsTransformersDoes) {
  const Json rows = read_json_file(QUIRE_TEST_DATA "/sampling/sampling.json");
  ASSERT_EQ(rows.size(), 32u);
  for (std::size_t r = 0; r < rows.size(); ++r) {
    SCOPED_TRACE("row " + std::to_string(r));
    const Json& row = rows[r];
    auto logits = row.at("logits").get<std::vector<float>>();
    const Sampler sampler(sampling_of(row), row.at("history").get<TokenIds>());
    sampler.process(logits);
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const Json& expected = row.at("processed")[i];
      if (expected.is_null()) {
        EXPECT_EQ(logits[i], -kInfinity) << "token " << i;
      } else {
        EXPECT_FLOAT_EQ(logits[i], expected.get<float>()) << "token " << i;
      }
    }
  }
}

TEST(Sampler, GreedyTieGoesToTheLowestId) {
  std::vector<float> logits = {1, 3, 3, 2};
  EXPECT_EQ(Sampler({}, {}).next(logits), 1);
}

TEST(Sampler, GreedyFindsTheFirstOfTheLargestWhereverItIs) {
  std::mt19937 random(1);
  for (const std::size_t size : {1u, 1024u, 1025u, 4096u, 5000u}) {
    for (int round = 0; round < 50; ++round) {
      std::vector<float> logits(size);
      for (float& x : logits) x = static_cast<float>(random() % 2000) - 1000;  // with equals
      const auto first = std::ranges::max_element(logits) - logits.begin();
      EXPECT_EQ(Sampler({}, {}).next(logits), first) << size;
    }
  }
}

TEST(Sampler, GreedyCountsItsOwnTokensForThePenalty) {
  Sampler sampler({.repetition_penalty = 2}, {});
  const std::vector<float> logits = {4, 3, -1};
  std::vector<TokenId> ids;
  for (int i = 0; i < 3; ++i) {
    auto copy = logits;
    ids.push_back(sampler.next(copy));
  }
  EXPECT_THAT(ids, testing::ElementsAre(0, 1, 0));
}

TEST(Sampler, DrawsByProbability) {
  const std::vector<float> probabilities = {0.1f, 0.6f, 0.05f, 0.25f};
  Sampler sampler({.temperature = 1, .seed = 11}, {});
  std::vector<int> counts(4);
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<float> logits(4);
    for (std::size_t t = 0; t < 4; ++t) logits[t] = std::log(probabilities[t]);
    ++counts[static_cast<std::size_t>(sampler.next(logits))];
  }
  for (std::size_t t = 0; t < 4; ++t) {
    const double p = static_cast<double>(probabilities[t]);
    const double deviation = std::sqrt(kDraws * p * (1 - p));
    EXPECT_NEAR(counts[t], kDraws * p, 4 * deviation) << "token " << t;
  }
}

std::vector<TokenId> draws(std::uint64_t seed, std::uint64_t stream) {
  Sampler sampler({.temperature = 1, .seed = seed}, {}, stream);
  std::vector<TokenId> ids;
  for (int i = 0; i < 12; ++i) {
    std::vector<float> flat(1000, 0.f);
    ids.push_back(sampler.next(flat));
  }
  return ids;
}

TEST(Sampler, SeedsAndStreamsFixTheDraws) {
  EXPECT_EQ(draws(5, 0), draws(5, 0));
  EXPECT_NE(draws(5, 0), draws(6, 0));
  EXPECT_NE(draws(5, 0), draws(5, 1));
}

TEST(Sampler, NeverDrawsWhatWasRemoved) {
  Sampler sampler({.temperature = 1, .top_k = 2, .seed = 3}, {});
  for (int i = 0; i < 500; ++i) {
    std::vector<float> logits = {0, 1, 0.5, 1, -kInfinity};
    EXPECT_THAT(sampler.next(logits), testing::AnyOf(1, 3));
  }
}

TEST(Sampler, RefusesNumbersThatAreNone) {
  for (const float bad : {std::nanf(""), kInfinity}) {
    std::vector<float> logits = {0, bad, 1};
    try {
      Sampler({}, {}).next(logits);
      FAIL() << "accepted " << bad;
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kBadNumber);
      EXPECT_THAT(e.what(), testing::HasSubstr("token 1"));
    }
  }
  std::vector<float> nothing(3, -kInfinity);
  EXPECT_THROW(Sampler({}, {}).next(nothing), Error);
}

TEST(Sampler, RefusesSettingsOutOfRange) {
  const std::map<std::string, Sampling> bad = {
      {"temperature", {.temperature = -1}},
      {"top_k", {.top_k = -1}},
      {"top_p", {.top_p = 1.5}},
      {"min_p", {.min_p = -0.1}},
      {"repetition_penalty", {.repetition_penalty = 0}},
  };
  for (const auto& [field, sampling] : bad) {
    try {
      check_sampling(sampling);
      ADD_FAILURE() << field << " was accepted";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
      EXPECT_THAT(e.what(), testing::StartsWith(field + ": "));
    }
  }
}

TEST(TopLogprobs, AreSortedAndNormalised) {
  const std::vector<float> logits = {1, 3, 3, -kInfinity, 0};
  const auto top = top_logprobs(logits, 9);
  ASSERT_EQ(top.size(), 5u);
  EXPECT_EQ(top[0].first, 1);
  EXPECT_EQ(top[1].first, 2);
  EXPECT_EQ(top[4].first, 3);
  double sum = 0;
  for (const auto& [id, logprob] : top) sum += std::exp(static_cast<double>(logprob));
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(top_logprobs(logits, 2).size(), 2u);
}

}  // namespace
}  // namespace quire
