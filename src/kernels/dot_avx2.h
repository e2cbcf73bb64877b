// SPDX-License-Identifier: Apache-2.0
// AVX2; see dot_portable.h. Its product of bytes sums pairs to 16 bits and saturates, so that as
// many are added as cannot reach 2^15: with activations of at most 127, eight of 4 bits
// (8 * 2 * 15 * 127 = 30480), four of 5 (31496), two of 6 (32004), one of 8 (2 * 128 * 127 =
// 32512).
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace quire {
namespace {

constexpr int kQuantisedTile = 4;
constexpr int kQuantisedFew[] = {2};
constexpr int kSignedOffset = 0;

using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));
using Partial = std::int16_t __attribute__((vector_size(4 * kLanes)));

constexpr int partial_products(int bits) {
  return bits <= 4 ? 8 : bits == 5 ? 4 : bits == 6 ? 2 : 1;
}

// sum + addend, one after the other. In assembly, since compilers sum the products of a
// unit as a tree, for which there are not registers enough.
inline Partial chained(Partial sum, Partial addend) {
  asm("vpaddw %1, %0, %0" : "+x"(sum) : "x"(addend));
  return sum;
}

template <bool kSigned>
inline Partial products(Bytes codes, IntVec x) {
  auto left = reinterpret_cast<__m256i>(codes);
  auto right = reinterpret_cast<__m256i>(x);
  if constexpr (kSigned) {  // the left factor is unsigned: the code's sign goes to the right one
    right = _mm256_sign_epi8(right, left);
    left = _mm256_abs_epi8(left);
  }
  return reinterpret_cast<Partial>(_mm256_maddubs_epi16(left, right));
}

template <bool kSigned>
inline Partial add_products(Partial sum, Bytes codes, IntVec x) {
  return chained(sum, products<kSigned>(codes, x));
}

inline IntVec add_partial(IntVec sum, Partial partial) {
  const __m256i pairs = _mm256_madd_epi16(reinterpret_cast<__m256i>(partial), _mm256_set1_epi16(1));
  return sum + reinterpret_cast<IntVec>(pairs);
}

inline Vec fused(Vec a, Vec b, Vec c) { return fma(a, b, c); }

}  // namespace
}  // namespace quire
