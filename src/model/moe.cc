// SPDX-License-Identifier: Apache-2.0
#include "model/moe.h"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace quire {

namespace {

// The tokens that an expert computes, and the weight of its output in each.
struct Share {
  std::vector<std::int64_t> tokens;
  std::vector<float> weights;
};

// Equal probabilities: the lower expert first. NaN counts as the lowest.
std::vector<Share> route(const std::vector<float>& probabilities, const ModelConfig& config) {
  const auto experts = static_cast<std::size_t>(config.experts);
  const std::size_t tokens = probabilities.size() / experts;
  std::vector<Share> shares(experts);
  std::vector<std::size_t> order(experts);
  for (std::size_t token = 0; token < tokens; ++token) {
    const float* scores = probabilities.data() + token * experts;
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto chosen_end = order.begin() + config.experts_per_token;
    std::partial_sort(order.begin(), chosen_end, order.end(), [&](std::size_t a, std::size_t b) {
      const bool a_nan = scores[a] != scores[a];
      const bool b_nan = scores[b] != scores[b];
      if (a_nan != b_nan) return b_nan;
      return scores[a] > scores[b] || (!(scores[a] < scores[b]) && a < b);
    });
    float sum = 0;
    for (auto expert = order.begin(); expert != chosen_end; ++expert) sum += scores[*expert];
    for (auto expert = order.begin(); expert != chosen_end; ++expert) {
      shares[*expert].tokens.push_back(static_cast<std::int64_t>(token));
      shares[*expert].weights.push_back(config.norm_expert_weights ? scores[*expert] / sum
                                                                   : scores[*expert]);
    }
  }
  return shares;
}

}  // namespace

void mixture(const Ops& ops, const ModelConfig& config, const LayerWeights& layer,
             const at::Tensor& x, at::Tensor& y, ThreadPool* pool) {
  const std::int64_t tokens = x.size(0);
  at::Tensor logits = ops.buffer(tokens, config.experts);
  ops.linear(*layer.router, x, logits, pool);
  const std::vector<Share> shares = route(ops.probabilities(logits, pool), config);

  std::size_t most = 0;
  for (const Share& share : shares) most = std::max(most, share.tokens.size());
  const auto rows = static_cast<std::int64_t>(most);
  const at::Tensor all_inputs = ops.buffer(rows, config.hidden);
  const at::Tensor all_inner = ops.buffer(rows, 2 * config.expert_intermediate);
  const at::Tensor all_outputs = ops.buffer(rows, config.hidden);
  ops.zero(y);
  for (std::size_t e = 0; e < shares.size(); ++e) {
    if (shares[e].tokens.empty()) continue;
    const auto count = static_cast<std::int64_t>(shares[e].tokens.size());
    at::Tensor inputs = all_inputs.narrow(0, 0, count);
    at::Tensor inner = all_inner.narrow(0, 0, count);
    at::Tensor gated = inner.narrow(1, 0, config.expert_intermediate);
    at::Tensor outputs = all_outputs.narrow(0, 0, count);
    ops.gather(x, shares[e].tokens, inputs);
    ops.linear(*layer.experts[e].gate_up, inputs, inner, pool);
    ops.gated(config.activation, inner, gated, pool);
    ops.linear(*layer.experts[e].down, gated, outputs, pool);
    ops.scatter_add(outputs, shares[e].tokens, shares[e].weights, y);
  }
}

}  // namespace quire
