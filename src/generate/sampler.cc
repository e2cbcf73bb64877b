// SPDX-License-Identifier: Apache-2.0
#include "generate/sampler.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <string>

#include "kernels/elementwise.h"

namespace quire {
namespace {

constexpr float kRemoved = -std::numeric_limits<float>::infinity();

void require(bool condition, std::string_view field, std::string_view expected, double found) {
  if (condition) return;
  throw Error(ErrorCode::kInvalidArgument, field,
              "expected " + std::string(expected) + ", found " + std::to_string(found));
}

std::mt19937_64 seeded(std::uint64_t seed, std::uint64_t stream) {
  std::seed_seq words{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32),
                      static_cast<std::uint32_t>(stream), static_cast<std::uint32_t>(stream >> 32)};
  return std::mt19937_64(words);
}

[[noreturn]] void refuse_number(std::span<const float> logits) {
  const auto bad = std::ranges::find_if(
      logits, [](float x) { return !(x < std::numeric_limits<float>::infinity()); });
  throw Error(ErrorCode::kBadNumber, "logits",
              "expected finite numbers, found " + std::to_string(*bad) + " for token " +
                  std::to_string(bad - logits.begin()));
}

// Also the check that next() promises, since everything starts from the largest logit.
float largest_of(std::span<const float> logits) {
  const Largest found = kernels::largest(logits.data(), std::ssize(logits));
  if (found.above) refuse_number(logits);
  if (found.value == kRemoved) {
    throw Error(ErrorCode::kBadNumber, "logits", "expected a finite number, found none");
  }
  return found.value;
}

// The softmax of x is weight(x) over the sum of all weights. Sums are taken in double.
double weight(float x, float largest) { return static_cast<double>(std::exp(x - largest)); }

double sum_of_weights(std::span<const float> logits, float largest) {
  double sum = 0;
  for (const float x : logits) sum += x == kRemoved ? 0 : weight(x, largest);
  return sum;
}

void keep_top_k(std::span<float> logits, std::int64_t top_k) {
  if (top_k <= 0 || top_k >= std::ssize(logits)) return;
  std::vector<float> sorted(logits.begin(), logits.end());
  std::nth_element(sorted.begin(), sorted.begin() + (top_k - 1), sorted.end(), std::greater<>());
  const float threshold = sorted[static_cast<std::size_t>(top_k - 1)];
  for (float& x : logits) {
    if (x < threshold) x = kRemoved;
  }
}

// Walks up from the least likely token, of equals from the lowest id, and removes tokens while the
// probability passed, this token's included, is at most 1 - top_p. The last always stays.
void keep_top_p(std::span<float> logits, double top_p) {
  if (top_p >= 1) return;
  const float largest = largest_of(logits);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] != kRemoved) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return logits[a] < logits[b]; });
  const double sum = sum_of_weights(logits, largest);
  const auto limit = static_cast<float>(1 - top_p);
  double passed = 0;
  for (std::size_t i = 0; i + 1 < order.size(); ++i) {
    float& x = logits[order[i]];
    passed += weight(x, largest) / sum;
    if (static_cast<float>(passed) > limit) break;
    x = kRemoved;
  }
}

void keep_min_p(std::span<float> logits, double min_p) {
  if (min_p <= 0) return;
  const float largest = largest_of(logits);
  const double sum = sum_of_weights(logits, largest);
  const float threshold = static_cast<float>(min_p) * static_cast<float>(1 / sum);
  for (float& x : logits) {
    if (x != largest && static_cast<float>(weight(x, largest) / sum) < threshold) x = kRemoved;
  }
}

// Of equals the first. The kernel passes over the blocks that lack it.
TokenId likeliest(std::span<const float> logits, float largest) {
  constexpr std::int64_t kBlock = 1024;
  const std::int64_t count = std::ssize(logits);
  std::int64_t first = 0;
  while (count - first > kBlock &&
         kernels::largest(logits.data() + first, kBlock).value < largest) {
    first += kBlock;
  }
  return static_cast<TokenId>(std::find(logits.begin() + first, logits.end(), largest) -
                              logits.begin());
}

// The token at which the running probability, by id, passes a uniform number.
TokenId draw(std::span<const float> logits, float largest, std::mt19937_64& random) {
  std::vector<std::pair<std::size_t, double>> candidates;  // ids and weights
  double sum = 0;
  for (std::size_t i = 0; i < logits.size(); ++i) {
    if (logits[i] == kRemoved) continue;
    candidates.emplace_back(i, weight(logits[i], largest));
    sum += candidates.back().second;
  }
  const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
  const double target = uniform * sum;
  double passed = 0;
  std::size_t last = 0;
  for (const auto& [id, share] : candidates) {
    last = id;
    passed += share;
    if (passed > target) break;
  }
  return static_cast<TokenId>(last);
}

}  // namespace

void check_sampling(const Sampling& s) {
  require(s.temperature >= 0 && std::isfinite(s.temperature), "temperature",
          "a number of at least 0", s.temperature);
  require(s.top_k >= 0, "top_k", "a number of at least 0", static_cast<double>(s.top_k));
  require(s.top_p >= 0 && s.top_p <= 1, "top_p", "a number from 0 to 1", s.top_p);
  require(s.min_p >= 0 && s.min_p <= 1, "min_p", "a number from 0 to 1", s.min_p);
  require(s.repetition_penalty > 0 && std::isfinite(s.repetition_penalty), "repetition_penalty",
          "a number above 0", s.repetition_penalty);
}

Sampler::Sampler(const Sampling& sampling, std::span<const TokenId> history, std::uint64_t stream)
    : sampling_(sampling), random_(seeded(sampling.seed, stream)) {
  check_sampling(sampling);
  for (const TokenId id : history) {
    if (static_cast<std::size_t>(id) >= seen_.size())
      seen_.resize(static_cast<std::size_t>(id) + 1);
    seen_[static_cast<std::size_t>(id)] = true;
  }
}

void Sampler::penalise(std::span<float> logits) const {
  const auto penalty = static_cast<float>(sampling_.repetition_penalty);
  if (penalty == 1) return;
  const std::size_t count = std::min(seen_.size(), logits.size());
  for (std::size_t i = 0; i < count; ++i) {
    if (seen_[i]) logits[i] = logits[i] < 0 ? logits[i] * penalty : logits[i] / penalty;
  }
}

bool Sampler::processes() const {
  return sampling_.repetition_penalty != 1 || sampling_.temperature != 0;
}

void Sampler::process(std::span<float> logits) const {
  penalise(logits);
  if (sampling_.temperature == 0) return;
  const auto temperature = static_cast<float>(sampling_.temperature);
  if (temperature != 1) {
    for (float& x : logits) x /= temperature;
  }
  keep_top_k(logits, sampling_.top_k);
  keep_top_p(logits, sampling_.top_p);
  keep_min_p(logits, sampling_.min_p);
}

TokenId Sampler::next(std::span<float> logits) {
  float largest = largest_of(logits);
  if (processes()) {
    process(logits);
    largest = largest_of(logits);
  }
  const TokenId id =
      sampling_.temperature == 0 ? likeliest(logits, largest) : draw(logits, largest, random_);
  if (static_cast<std::size_t>(id) >= seen_.size()) seen_.resize(static_cast<std::size_t>(id) + 1);
  seen_[static_cast<std::size_t>(id)] = true;
  return id;
}

double log_sum_exp(std::span<const float> logits) {
  const float largest = largest_of(logits);
  return static_cast<double>(largest) + std::log(sum_of_weights(logits, largest));
}

std::vector<std::pair<TokenId, float>> top_logprobs(std::span<const float> logits, std::int64_t k) {
  std::vector<TokenId> ids(logits.size());
  std::iota(ids.begin(), ids.end(), 0);
  const auto wanted = std::min<std::int64_t>(k, std::ssize(logits));
  const auto likelier = [&](TokenId a, TokenId b) {
    const float x = logits[static_cast<std::size_t>(a)];
    const float y = logits[static_cast<std::size_t>(b)];
    return x != y ? x > y : a < b;
  };
  std::partial_sort(ids.begin(), ids.begin() + wanted, ids.end(), likelier);
  const auto normaliser = static_cast<float>(log_sum_exp(logits));
  std::vector<std::pair<TokenId, float>> top;
  for (std::int64_t i = 0; i < wanted; ++i) {
    const TokenId id = ids[static_cast<std::size_t>(i)];
    top.emplace_back(id, logits[static_cast<std::size_t>(id)] - normaliser);
  }
  return top;
}

}  // namespace quire
