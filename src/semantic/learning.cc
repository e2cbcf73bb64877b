// SPDX-License-Identifier: Apache-2.0
#include "semantic/learning.h"

#include <algorithm>
#include <cmath>

namespace quire {

namespace {

// The chance of at most `most` of `n` events of probability p.
double binomial_tail(std::int64_t n, std::int64_t most, double p) {
  if (p <= 0) return 1;
  if (p >= 1) return most >= n ? 1 : 0;
  const double log_p = std::log(p);
  const double log_q = std::log1p(-p);
  double total = 0;
  double log_choose = 0;
  for (std::int64_t k = 0; k <= most; ++k) {
    if (k > 0) {
      log_choose += std::log(static_cast<double>(n - k + 1)) - std::log(static_cast<double>(k));
    }
    total +=
        std::exp(log_choose + static_cast<double>(k) * log_p + static_cast<double>(n - k) * log_q);
  }
  return total;
}

}  // namespace

double upper_error(std::int64_t reported, std::int64_t wrong) {
  constexpr double kChance = 0.05;
  if (wrong >= reported) return 1;
  double low = static_cast<double>(wrong) / static_cast<double>(reported);
  double high = 1;
  constexpr int kHalvings = 50;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = (low + high) / 2;
    (binomial_tail(reported, wrong, middle) > kChance ? low : high) = middle;
  }
  return high;
}

double learned_threshold(double least, double wrong_score) {
  // Above the wrong score by more than two runs of an encoder can differ.
  constexpr double kStep = 1e-4;
  return std::max(least, wrong_score + kStep);
}

void report(ErrorBound& bound, bool wrong) {
  ++bound.reported;
  if (wrong) ++bound.wrong;
  bound.upper = upper_error(bound.reported, bound.wrong);
}

}  // namespace quire
