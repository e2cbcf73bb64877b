// SPDX-License-Identifier: Apache-2.0
#include "kernels/affine_codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

#include "kernels/half.h"

namespace quire {
namespace {

// Eight lanes as two vectors of the baseline's.
using Quad = float __attribute__((vector_size(16)));
using Lanes = std::array<Quad, 2>;
constexpr std::size_t kLanes = 8;

float sum_of(const Lanes& lanes) {
  const Quad four = lanes[0] + lanes[1];
  return (four[0] + four[2]) + (four[1] + four[3]);
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

  // The nearest codes, as the low bits of floats that are 2^23 larger; 0 for NaN.
  Quad shifted(Quad x) const {
    const Quad none{};
    const Quad exact = (x - zero) * inverse;
    const Quad below = exact > levels ? none + levels : exact;
    return (exact >= none ? below : none) + 0x1p23F;
  }
  Quad code(Quad x) const { return shifted(x) - 0x1p23F; }

  float zero;
  float inverse;
  float levels;
};

// Calls `add(half, four numbers)`. What is missing of the last eight is `fill`.
template <typename Add>
void over_quads(std::span<const float> x, float fill, const Add& add) {
  for (std::size_t i = 0; i < x.size(); i += kLanes) {
    std::array<float, kLanes> eight;
    eight.fill(fill);
    std::memcpy(eight.data(), x.data() + i, std::min(kLanes, x.size() - i) * sizeof(float));
    Lanes lanes;
    std::memcpy(&lanes, eight.data(), sizeof(lanes));
    add(0, lanes[0]);
    add(1, lanes[1]);
  }
}

float squared_error(std::span<const float> x, const Affine& affine, float levels) {
  const Coder coder(affine, levels);
  Lanes sums{};
  over_quads(x, affine.zero, [&](std::size_t half, Quad values) {
    const Quad error = affine.zero + affine.scale * coder.code(values) - values;
    sums[half] += error * error;
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
  over_quads(x, affine.zero, [&](std::size_t half, Quad values) {
    const Quad code = coder.code(values);
    const Quad above = values - affine.zero;
    codes[half] += code;
    squares[half] += code * code;
    sums[half] += above;
    products[half] += code * above;
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
  Fit start{whole, std::numeric_limits<float>::infinity()};
  for (const auto& [below, above] : kCuts) {
    const Affine cut = over_range(low + below * range, high - above * range);
    const float error = squared_error(x, cut, levels);
    if (error < start.error) start = {cut, error};
  }
  const Fit other = refit(x, start.affine, levels);
  if (other.error < best.error) best = other;
  return best.affine;
}

void affine_codes(std::span<const float> x, const Affine& affine, int bits,
                  std::span<std::uint8_t> codes) {
  const Coder coder(affine, levels_of(bits));
  std::size_t at = 0;
  over_quads(x, affine.zero, [&](std::size_t, Quad values) {
    const Quad shifted = coder.shifted(values);
    for (int i = 0; i < 4 && at < codes.size(); ++i) {
      codes[at++] = static_cast<std::uint8_t>(std::bit_cast<std::uint32_t>(float{shifted[i]}));
    }
  });
}

}  // namespace quire
