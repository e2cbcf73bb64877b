// SPDX-License-Identifier: Apache-2.0
// Included by elementwise_<isa>.cc after simd_<isa>.h, simd.h and simd_math.h. The lanes of a
// row's end are computed like all others, so an element's bits do not depend on its column.
#pragma once

#include <cstdint>

#include "kernels/elementwise_kernels.h"

namespace quire {
namespace {

// y = op(x), and y = op(a, b), over one row.
template <typename Op>
void map(const float* x, std::int64_t cols, float* y, const Op& op) {
  std::int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) store(y + c, op(load(x + c)));
  if (c < cols) store_first(y + c, op(load_first(x + c, cols - c)), cols - c);
}

template <typename Op>
void map(const float* a, const float* b, std::int64_t cols, float* y, const Op& op) {
  std::int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) store(y + c, op(load(a + c), load(b + c)));
  if (c < cols) {
    store_first(y + c, op(load_first(a + c, cols - c), load_first(b + c, cols - c)), cols - c);
  }
}

// The sum of op(sum, x) over a row: four sums a lane apart, then the lanes, in a fixed order.
// `op` must keep a sum as it is where x is `neutral`, which fills up the row's end.
template <typename Op>
float sum_row(const float* x, std::int64_t cols, float neutral, const Op& op) {
  Vec sums[4] = {};
  std::int64_t c = 0;
  for (; c + 4 * kLanes <= cols; c += 4 * kLanes) {
    for (int i = 0; i < 4; ++i) sums[i] = op(sums[i], load(x + c + i * kLanes));
  }
  for (int i = 0; c + kLanes <= cols; c += kLanes, ++i) sums[i] = op(sums[i], load(x + c));
  if (c < cols) {
    float end[kLanes];
    store(end, broadcast(neutral));
    std::memcpy(end, x + c, static_cast<std::size_t>(cols - c) * sizeof(float));
    sums[3] = op(sums[3], load(end));
  }
  return sum_lanes((sums[0] + sums[1]) + (sums[2] + sums[3]));
}

float max_of_row(const float* x, std::int64_t cols) {
  Vec most = broadcast(x[0]);
  const auto larger = [](Vec a, Vec b) { return a < b ? b : a; };
  std::int64_t c = 0;
  for (; c + kLanes <= cols; c += kLanes) most = larger(most, load(x + c));
  float lanes[kLanes];
  store(lanes, most);
  for (; c < cols; ++c) lanes[0] = lanes[0] < x[c] ? x[c] : lanes[0];
  for (int i = 1; i < kLanes; ++i) lanes[0] = lanes[0] < lanes[i] ? lanes[i] : lanes[0];
  return lanes[0];
}

void rms_norm(const float* x, std::int64_t ldx, const float* weight, float eps, std::int64_t rows,
              std::int64_t cols, float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    const float squares = sum_row(x, cols, 0.0F, [](Vec sum, Vec v) { return fma(v, v, sum); });
    const float factor = 1.0F / __builtin_sqrtf(squares / static_cast<float>(cols) + eps);
    if (weight == nullptr) {
      map(x, cols, y, [factor](Vec v) { return v * factor; });
    } else {
      map(x, weight, cols, y, [factor](Vec v, Vec w) { return v * factor * w; });
    }
  }
}

void layer_norm(const float* x, std::int64_t ldx, const float* weight, const float* bias, float eps,
                std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    const auto count = static_cast<float>(cols);
    const float mean = sum_row(x, cols, 0.0F, [](Vec sum, Vec v) { return sum + v; }) / count;
    const float squares =
        sum_row(x, cols, mean, [mean](Vec sum, Vec v) { return fma(v - mean, v - mean, sum); });
    const float factor = 1.0F / __builtin_sqrtf(squares / count + eps);
    map(x, cols, y, [mean, factor](Vec v) { return (v - mean) * factor; });
    if (weight != nullptr) map(y, weight, cols, y, [](Vec v, Vec w) { return v * w; });
    if (bias != nullptr) map(y, bias, cols, y, [](Vec v, Vec b) { return v + b; });
  }
}

// `count` lanes of a head's halves from the i-th on.
[[gnu::always_inline]] inline void rotate_lanes(float* low, float* high, const float* cos,
                                                const float* sin, std::int64_t count) {
  const Vec a = load_outputs(low, count);
  const Vec b = load_outputs(high, count);
  const Vec c = load_outputs(cos, count);
  const Vec s = load_outputs(sin, count);
  store_outputs(low, fma(a, c, -(b * s)), count);
  store_outputs(high, fma(b, c, a * s), count);
}

void rotate_head(float* head, std::int64_t half, const float* cos, const float* sin) {
  std::int64_t i = 0;
  for (; i + kLanes <= half; i += kLanes) {
    rotate_lanes(head + i, head + half + i, cos + i, sin + i, kLanes);
  }
  if (i < half) rotate_lanes(head + i, head + half + i, cos + i, sin + i, half - i);
}

void rotate(float* x, std::int64_t tokens, std::int64_t heads, std::int64_t head_dim,
            std::int64_t rot_dims, std::int64_t ldx, const float* cos, const float* sin) {
  const std::int64_t half = rot_dims / 2;
  for (std::int64_t t = 0; t < tokens; ++t) {
    for (std::int64_t h = 0; h < heads; ++h) {
      rotate_head(x + t * ldx + h * head_dim, half, cos + t * half, sin + t * half);
    }
  }
}

template <Vec (*kAct)(Vec)>
void activate(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
              std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r) {
    map(x + r * ldx, cols, y + r * ldy, [](Vec v) { return kAct(v); });
  }
}

template <Vec (*kAct)(Vec)>
void gate_up(const float* gate, std::int64_t ldg, const float* up, std::int64_t ldu,
             std::int64_t rows, std::int64_t cols, float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r) {
    map(gate + r * ldg, up + r * ldu, cols, y + r * ldy, [](Vec g, Vec u) { return kAct(g) * u; });
  }
}

void add_scaled(const float* x, std::int64_t ldx, float factor, std::int64_t rows,
                std::int64_t cols, float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    map(x, y, cols, y, [factor](Vec v, Vec sum) { return fma(v, broadcast(factor), sum); });
  }
}

void scale(const float* x, std::int64_t ldx, float factor, std::int64_t rows, std::int64_t cols,
           float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    map(x, cols, y, [factor](Vec v) { return v * factor; });
  }
}

void softcap(const float* x, std::int64_t ldx, float cap, std::int64_t rows, std::int64_t cols,
             float* y, std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    map(x, cols, y, [cap](Vec v) { return tanh(v / cap) * cap; });
  }
}

void softmax(const float* x, std::int64_t ldx, std::int64_t rows, std::int64_t cols, float* y,
             std::int64_t ldy) {
  for (std::int64_t r = 0; r < rows; ++r, x += ldx, y += ldy) {
    const float most = max_of_row(x, cols);
    map(x, cols, y, [most](Vec v) { return exp(v - most); });
    const float sum = sum_row(y, cols, 0.0F, [](Vec s, Vec v) { return s + v; });
    map(y, cols, y, [sum](Vec v) { return v / sum; });
  }
}

Largest largest(const float* x, std::int64_t count) {
  constexpr int kSideBySide = 4;
  constexpr float kInfinity = __builtin_inff();
  Vec most[kSideBySide];
  for (Vec& lanes : most) lanes = broadcast(-kInfinity);
  IntVec above{};
  IntVec below{};
  const auto look_at = [&](Vec v, Vec& lanes) {
    lanes = v > lanes ? v : lanes;
    above |= ~(v < broadcast(kInfinity));
    below |= ~(v > broadcast(-kInfinity));
  };
  std::int64_t i = 0;
  for (; i + kSideBySide * kLanes <= count; i += kSideBySide * kLanes) {
    for (int j = 0; j < kSideBySide; ++j) look_at(load(x + i + j * kLanes), most[j]);
  }
  for (; i + kLanes <= count; i += kLanes) look_at(load(x + i), most[0]);
  if (i < count) {  // the row's end, filled up with one of it
    float end[kLanes];
    store(end, broadcast(x[i]));
    std::memcpy(end, x + i, static_cast<std::size_t>(count - i) * sizeof(float));
    look_at(load(end), most[0]);
  }
  Largest found{-kInfinity, false, false};
  for (const Vec& lanes : most) {
    for (int lane = 0; lane < kLanes; ++lane) {
      found.value = lanes[lane] > found.value ? lanes[lane] : found.value;
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    found.above |= above[lane] != 0;
    found.below |= below[lane] != 0;
  }
  return found;
}

constexpr ElementwiseKernels kElementwise = {
    rms_norm,       layer_norm,     rotate,
    gate_up<silu>,  gate_up<gelu>,  gate_up<gelu_tanh>,
    activate<silu>, activate<gelu>, activate<gelu_tanh>,
    add_scaled,     scale,          softcap,
    softmax,        largest,
};

}  // namespace
}  // namespace quire
