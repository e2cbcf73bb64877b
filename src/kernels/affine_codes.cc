// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <utility>

#include "kernels/half.h"

namespace quire {
namespace {

constexpr std::size_t kLanes = 8;
using Lanes = std::array<float, kLanes>;

float sum_of(const Lanes& lanes) {
  return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) +
         ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

std::uint16_t saturated_f16(float x) {
  constexpr float kMax = 65504.0F;
  return f16_from_float(std::clamp(x, -kMax, kMax));
}

Affine rounded(float scale, float zero) {
  Affine affine{};
  affine.zero_bits = saturated_f16(zero);
  affine.zero = float_from_f16(affine.zero_bits);
  affine.scale_bits = saturated_f16(scale);
  affine.scale = float_from_f16(affine.scale_bits);
  return affine;
}

float levels_of(int bits) { return static_cast<float>((1 << bits) - 1); }

// How codes are found; made once for many numbers.
struct Coder {
  Coder(const Affine& affine, float most)
      : zero(affine.zero), inverse(1 / affine.scale), levels(most) {}

  // The nearest code, as the low bits of a float that is 2^23 larger; 0 for NaN.
  float shifted(float x) const {
    const float exact = (x - zero) * inverse;
    const float kept = exact >= 0 ? std::min(exact, levels) : 0.0F;
    return kept + 0x1p23F;
  }
  float code(float x) const { return shifted(x) - 0x1p23F; }

  float zero;
  float inverse;
  float levels;
};

// Calls `add(lane, x)` for each number, lane by lane in turn.
template <typename Add>
void over_lanes(std::span<const float> x, const Add& add) {
  std::size_t i = 0;
  for (; i + kLanes <= x.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) add(lane, x[i + lane]);
  }
  for (; i < x.size(); ++i) add(i % kLanes, x[i]);
}

float squared_error(std::span<const float> x, const Affine& affine, float levels) {
  const Coder coder(affine, levels);
  Lanes sums{};
  over_lanes(x, [&](std::size_t lane, float value) {
    const float error = affine.zero + affine.scale * coder.code(value) - value;
    sums[lane] += error * error;
  });
  return sum_of(sums);
}

// The scale and zero that fit best to the codes that `affine` gives: linear regression. Numbers are
// taken from the zero up, where codes are small and sums of floats exact enough.
Affine refitted(std::span<const float> x, const Affine& affine, float levels) {
  const Coder coder(affine, levels);
  Lanes codes{};
  Lanes squares{};
  Lanes sums{};
  Lanes products{};
  over_lanes(x, [&](std::size_t lane, float value) {
    const float code = coder.code(value);
    const float above = value - affine.zero;
    codes[lane] += code;
    squares[lane] += code * code;
    sums[lane] += above;
    products[lane] += code * above;
  });
  const double count = static_cast<double>(x.size());
  const double all = double{sum_of(codes)};
  const double above = double{sum_of(sums)};
  const double spread = count * double{sum_of(squares)} - all * all;
  if (!(spread > 0)) return affine;
  const double scale = (count * double{sum_of(products)} - all * above) / spread;
  return rounded(static_cast<float>(scale),
                 static_cast<float>(double{affine.zero} + (above - scale * all) / count));
}

struct Fit {
  Affine affine;
  float error;
};

// On from a first guess as long as the error gets smaller. Codes are chosen after scale and zero
// have been rounded, so that they make up for it.
Fit refit(std::span<const float> x, const Affine& first, float levels) {
  constexpr int kRefits = 3;
  Fit best{first, squared_error(x, first, levels)};
  for (int i = 0; i < kRefits; ++i) {
    const Affine next = refitted(x, best.affine, levels);
    const float error = squared_error(x, next, levels);
    if (!(error < best.error)) break;
    best = {next, error};
  }
  return best;
}

}  // namespace

Affine fit_affine(std::span<const float> x, int bits, Ends ends) {
  const float levels = levels_of(bits);
  const auto [low, high] = std::ranges::minmax(x);
  const auto over_range = [&](float from, float to) {
    const Affine zero = rounded(0, from);
    return rounded(std::max(0.0F, to - zero.zero) / levels, from);
  };
  const Affine whole = over_range(low, high);
  if (bits == 8) return whole;
  Fit best = refit(x, whole, levels);
  if (ends == Ends::kKept) return best.affine;
  // Shares of the range, cut off below and above.
  constexpr std::pair<float, float> kCuts[] = {{0.05F, 0},    {0, 0.05F},    {0.05F, 0.05F},
                                               {0.1F, 0.05F}, {0.05F, 0.1F}, {0.1F, 0.1F}};
  const float range = high - low;
  for (const auto& [below, above] : kCuts) {
    const Fit other = refit(x, over_range(low + below * range, high - above * range), levels);
    if (other.error < best.error) best = other;
  }
  return best.affine;
}

void affine_codes(std::span<const float> x, const Affine& affine, int bits,
                  std::span<std::uint8_t> codes) {
  const Coder coder(affine, levels_of(bits));
  for (std::size_t i = 0; i < x.size(); ++i) {
    codes[i] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(coder.shifted(x[i])));
  }
}

}  // namespace quire
