// SPDX-License-Identifier: Apache-2.0
#include "semantic/pooling.h"

#include <algorithm>
#include <cmath>

namespace quire {

namespace {

// The sum over the tokens of weight(token) * state, times `factor`.
template <typename Weight>
void sum_states(std::span<const float> states, std::span<float> out, const Weight& weight,
                float factor) {
  const std::size_t tokens = states.size() / out.size();
  std::ranges::fill(out, 0.0F);
  for (std::size_t t = 0; t < tokens; ++t) {
    const float w = weight(t);
    const float* state = states.data() + t * out.size();
    for (std::size_t i = 0; i < out.size(); ++i) out[i] += w * state[i];
  }
  for (float& value : out) value *= factor;
}

}  // namespace

void pool_states(Pooling pooling, std::span<const float> states, std::span<float> out) {
  const std::size_t tokens = states.size() / out.size();
  const auto count = static_cast<float>(tokens);
  const auto equal = [](std::size_t) { return 1.0F; };
  switch (pooling) {
    case Pooling::kCls:
      std::ranges::copy(states.first(out.size()), out.begin());
      break;
    case Pooling::kLastToken:
      std::ranges::copy(states.last(out.size()), out.begin());
      break;
    case Pooling::kMax:
      std::ranges::copy(states.first(out.size()), out.begin());
      for (std::size_t i = out.size(); i < states.size(); ++i) {
        float& most = out[i % out.size()];
        most = std::max(most, states[i]);
      }
      break;
    case Pooling::kMean:
      sum_states(states, out, equal, 1 / count);
      break;
    case Pooling::kMeanSqrtLen:
      sum_states(states, out, equal, 1 / std::sqrt(count));
      break;
    case Pooling::kWeightedMean:
      sum_states(
          states, out, [](std::size_t t) { return static_cast<float>(t + 1); },
          2 / (count * (count + 1)));
      break;
  }
}

void scale_to_unit(std::span<float> vector) {
  double squares = 0;
  for (const double value : vector) squares += value * value;
  if (squares == 0) return;
  const double factor = 1 / std::sqrt(squares);
  for (float& value : vector) value = static_cast<float>(double{value} * factor);
}

}  // namespace quire
