// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/sampling.h>
#include <quire/token.h>

#include <cstdint>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace quire {

// Throws Error kInvalidArgument, naming the field, for values outside their range.
void check_sampling(const Sampling& sampling);

// Chooses tokens from float32 logits [V] as Hugging Face's generate does: its LogitsProcessors'
// formulas, order and treatment of ties, computed on the CPU without tensors. Only the random
// numbers are our own: std::mt19937_64, whose output the standard fixes.
//
// Thread-safety: one sequence, one thread at a time.
class Sampler {
 public:
  // `history`: the tokens that the repetition penalty counts from the start (the prompt). `stream`
  // tells the answers to one request apart: equal seeds with different streams draw differently.
  Sampler(const Sampling& sampling, std::span<const TokenId> history, std::uint64_t stream = 0);

  // The next token, which joins the history. `logits` is used as scratch space.
  // Throws Error kBadNumber for NaN, +infinity, or no finite logit at all.
  TokenId next(std::span<float> logits);

  // What next() does up to the draw: penalises, scales and filters `logits` in place; a token that
  // is filtered out becomes -infinity. Greedy sampling only penalises.
  void process(std::span<float> logits) const;

 private:
  void penalise(std::span<float> logits) const;
  bool processes() const;  // whether process() may change anything

  Sampling sampling_;
  std::vector<bool> seen_;  // by token id; grows as needed
  std::mt19937_64 random_;
};

// The k likeliest tokens of raw (unprocessed) logits, most likely first, equals by lowest id:
// (id, logit - log(sum(exp(logits)))).
std::vector<std::pair<TokenId, float>> top_logprobs(std::span<const float> logits, std::int64_t k);

// log(sum(exp(logits))), in double.
double log_sum_exp(std::span<const float> logits);

}  // namespace quire
