// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

namespace quire {

// a + b, or the largest number where that is more: of times that are to be "never".
// REQUIRES: b >= 0.
constexpr std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  return a > kMost - b ? kMost : a + b;
}

}  // namespace quire
