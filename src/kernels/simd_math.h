// SPDX-License-Identifier: Apache-2.0
// exp, tanh and erf of a vector, after simd.h. The polynomials are least-maximum fits made for
// these forms; their errors are far below the rounding of the few operations around them.
#pragma once

#include <cstdint>

namespace quire {
namespace {

// exp(x) = 2^n exp(r), |r| <= ln(2) / 2, with r taken from a two-part ln(2).
struct Exponential {
  Vec mantissa;  // exp(r)
  IntVec n;
};
inline Exponential exponential(Vec x) {
  const Vec shift = broadcast(0x1.8p23F);  // adding it rounds to an integer
  const Vec shifted = fma(x, broadcast(1.44269504F), shift);
  const Vec n = shifted - shift;
  Vec r = fma(n, broadcast(-0x1.62e4p-1F), x);
  r = fma(n, broadcast(-1.42860677e-6F), r);
  Vec p = broadcast(0.0013814539F);
  p = fma(p, r, broadcast(0.008368745F));
  p = fma(p, r, broadcast(0.04166839F));
  p = fma(p, r, broadcast(0.16666521F));
  p = fma(p, r, broadcast(0.49999994F));
  p = fma(p * r, r, r) + 1.0F;
  return {p, as_int(shifted) - as_int(shift)};
}

// 2^n, -126 <= n <= 127.
inline Vec power_of_two(IntVec n) { return as_float((n + 127) << 23); }

// With 2^n as two factors, so that the whole range of floats is right: from subnormal results to
// infinity.
inline Vec exp(Vec x) {
  const Exponential e = exponential(at_most(at_least(x, -105.0F), 90.0F));
  const IntVec half = e.n >> 1;
  return e.mantissa * power_of_two(half) * power_of_two(e.n - half);
}

// exp(x) for x <= 0, where what would be less than 2^-126 does not matter and is about that.
inline Vec exp_of_negative(Vec x) {
  const Exponential e = exponential(at_least(x, -87.0F));
  return e.mantissa * power_of_two(e.n);
}

inline Vec tanh(Vec x) {
  const Vec size = abs(x);
  const Vec z = x * x;
  Vec p = broadcast(-0.0058951587F);
  p = fma(p, z, broadcast(0.020795971F));
  p = fma(p, z, broadcast(-0.05378383F));
  p = fma(p, z, broadcast(0.13331924F));
  p = fma(p, z, broadcast(-0.333333F));
  const Vec small = fma(p * z, size, size);
  const Vec large = 1.0F - 2.0F / (exp(size + size) + 1.0F);
  return copy_sign(size < broadcast(0.6F) ? small : large, x);
}

// Near zero a polynomial; further out 1 - exp(-q(|x|)), where q approximates -log(erfc).
inline Vec erf(Vec x) {
  const Vec size = at_most(abs(x), 4.0F);
  const Vec z = x * x;
  Vec p = broadcast(8.185122e-05F);
  p = fma(p, z, broadcast(-0.0008097712F));
  p = fma(p, z, broadcast(0.005196953F));
  p = fma(p, z, broadcast(-0.026857706F));
  p = fma(p, z, broadcast(0.11283664F));
  p = fma(p, z, broadcast(-0.37612632F));
  p = fma(p, z, broadcast(0.12837917F));
  const Vec small = fma(p, size, size);
  Vec q = broadcast(1.1522266e-05F);
  q = fma(q, size, broadcast(-0.00032565245F));
  q = fma(q, size, broadcast(0.003653763F));
  q = fma(q, size, broadcast(-0.023785345F));
  q = fma(q, size, broadcast(0.106263146F));
  q = fma(q, size, broadcast(0.6351359F));
  q = fma(q, size, broadcast(1.1286522F));
  const Vec large = 1.0F - exp(-(q * size));
  return copy_sign(size < broadcast(0.92F) ? small : large, x);
}

inline Vec silu(Vec x) { return x / (1.0F + exp(-x)); }

inline Vec gelu(Vec x) {
  constexpr float kInverseSqrt2 = 0.707106781F;
  return 0.5F * x * (1.0F + erf(x * kInverseSqrt2));
}

inline Vec gelu_tanh(Vec x) {
  constexpr float kSqrt2OverPi = 0.797884561F;
  return 0.5F * x * (1.0F + tanh(kSqrt2OverPi * fma(0.044715F * x, x * x, x)));
}

}  // namespace
}  // namespace quire
