// SPDX-License-Identifier: Apache-2.0
// Products of codes and quantised activations, summed as integers: baseline version in the
// compiler's generic vectors. dot_avx2.h and dot_avx512.h have the same names. Sums are exact in
// all of them, so all give the same.
#pragma once

#include <cstdint>

namespace quire {
namespace {

constexpr int kQuantisedTile = 4;     // rows of a matrix product's tile,
constexpr int kQuantisedFew[] = {2};  // of the last one when few are left, ascending
constexpr int kSignedOffset = 0;      // added to signed codes before they are multiplied

using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));

// A sum of products that may be narrower than 32 bits: of codes of `bits` bits (8: signed) it takes
// that many.
using Partial = IntVec;
constexpr int partial_products(int) { return 8; }

using Shorts = std::int16_t __attribute__((vector_size(4 * kLanes)));

// To every lane, four codes times the four activations in `x`'s lane. Products have 16 bits: those
// of the even bytes, then those of the odd ones, and of each the lower half of a lane and the
// upper.
template <bool kSigned>
inline Partial add_products(Partial sum, Bytes codes, IntVec x) {
  const auto left = reinterpret_cast<Shorts>(codes);
  const auto right = reinterpret_cast<Shorts>(x);
  const Shorts even = kSigned ? (left << 8) >> 8 : left & 0xff;
  const Shorts odd = kSigned ? left >> 8 : (left >> 8) & 0xff;
  const auto evens = reinterpret_cast<IntVec>(even * ((right << 8) >> 8));
  const auto odds = reinterpret_cast<IntVec>(odd * (right >> 8));
  return sum + ((evens << 16) >> 16) + (evens >> 16) + ((odds << 16) >> 16) + (odds >> 16);
}

template <bool kSigned>
inline Partial products(Bytes codes, IntVec x) {
  return add_products<kSigned>(Partial{}, codes, x);
}

inline IntVec add_partial(IntVec sum, Partial partial) { return sum + partial; }

// a * b + c, rounded once: what fma() is elsewhere.
inline Vec fused(Vec a, Vec b, Vec c) {
  for (int lane = 0; lane < kLanes; ++lane) c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return c;
}

}  // namespace
}  // namespace quire
