// SPDX-License-Identifier: Apache-2.0
// What 8-bit activations and bfloat16 KV cost on the packaged SmolLM2: next-token distributions of
// native mode against float32, over a thousand tokens.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include <array>
#include <cmath>
#include <random>

#include "kernels/thread_pool.h"
#include "tests/model/fixtures.h"
#include "tests/model/real_models.h"

namespace quire {
namespace {

using namespace quire::testing;

// Sentences with places, numbers and trades drawn at random: neither learnt by heart nor noise.
std::string made_up_prose(std::size_t sentences) {
  constexpr std::array kPlaces = {
      "Larnby",     "the old harbour", "Westmarch", "the northern valley",
      "Port Ellen", "the island",      "Kesswick",  "the upper town"};
  constexpr std::array kPeople = {"a baker",     "two sisters",           "the schoolmaster",
                                  "an engineer", "the widow of a sailor", "a young doctor",
                                  "some farmers"};
  constexpr std::array kDeeds = {
      "opened a small library with the money that was left",
      "measured the height of the water every morning and wrote it down",
      "built a bridge of stone where the wooden one had burnt",
      "sold bread, candles and letters of advice to travellers",
      "argued that the railway should pass on the other side of the river",
      "kept bees, because honey was easier to carry than apples"};
  constexpr std::array kEnds = {"Nobody remembers why.", "It did not last.",
                                "The records of those years are still in the church.",
                                "Their children moved to the city and studied law.",
                                "After that, prices fell by half."};
  std::mt19937 engine(7);
  const auto pick = [&engine](const auto& list) { return list[engine() % list.size()]; };
  std::string text;
  for (std::size_t i = 0; i < sentences; ++i) {
    text += "In " + std::to_string(1780 + engine() % 200) + ", " + pick(kPeople) + " in " +
            pick(kPlaces) + ' ' + pick(kDeeds) + ". " + pick(kEnds) + (i % 4 == 3 ? "\n\n" : " ");
  }
  return text;
}

// log softmax.
std::vector<double> log_probabilities(const std::vector<float>& logits) {
  const double most = static_cast<double>(*std::max_element(logits.begin(), logits.end()));
  double sum = 0;
  for (const float x : logits) sum += std::exp(static_cast<double>(x) - most);
  std::vector<double> result;
  for (const float x : logits) result.push_back(static_cast<double>(x) - most - std::log(sum));
  return result;
}

double divergence(const std::vector<float>& expected, const std::vector<float>& found) {
  const std::vector<double> p = log_probabilities(expected);
  const std::vector<double> q = log_probabilities(found);
  double sum = 0;
  for (std::size_t i = 0; i < p.size(); ++i) sum += std::exp(p[i]) * (p[i] - q[i]);
  return sum;
}

TEST(NativeSmolLM2, IsWithinItsBoundOfFloat32) {
  const auto path = packaged("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf");
  const auto exact = load(path, DType::kF32);
  const auto native = load(path, DType::kNative);
  TokenIds ids = exact->tokenizer()->encode(made_up_prose(60));
  ASSERT_GE(ids.size(), 1000U);
  ids.resize(1000);
  ThreadPool pool(2);
  DynamicCache exact_cache(exact->kv_spec());
  DynamicCache native_cache(native->kv_spec());
  double sum = 0;
  int agreed = 0;
  constexpr std::size_t kChunk = 100;
  for (std::size_t at = 0; at < ids.size(); at += kChunk) {
    const auto read = [&](const Model& model, KvCache& cache) {
      const Sequence piece{.tokens = std::span(ids).subspan(at, kChunk),
                           .cache = cache,
                           .logits = static_cast<std::int64_t>(kChunk)};
      return model.forward({&piece, 1}, &pool);
    };
    const at::Tensor expected = read(*exact, exact_cache);
    const at::Tensor found = read(*native, native_cache);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kChunk); ++i) {
      sum += divergence(row(expected, i), row(found, i));
      agreed += argmax(row(expected, i)) == argmax(row(found, i)) ? 1 : 0;
    }
  }
  const double mean = sum / static_cast<double>(ids.size());
  RecordProperty("mean_divergence", std::to_string(mean));
  RecordProperty("agreed", std::to_string(agreed));
  EXPECT_LE(mean, 0.005);
  EXPECT_GE(agreed, 970);
}

}  // namespace
}  // namespace quire
