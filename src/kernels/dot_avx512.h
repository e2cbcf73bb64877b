// SPDX-License-Identifier: Apache-2.0
// AVX-512 with VNNI; see dot_portable.h.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace quire {
namespace {

constexpr int kQuantisedTile = 12;
constexpr int kQuantisedFew[] = {4, 8};
constexpr int kSignedOffset = 128;

using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));
using Partial = IntVec;

constexpr int partial_products(int) { return 8; }

template <bool kSigned>
inline Partial add_products(Partial sum, Bytes codes, IntVec x) {
  if constexpr (kSigned) codes ^= kSignedOffset;  // the left factor is unsigned
  return reinterpret_cast<Partial>(_mm512_dpbusd_epi32(reinterpret_cast<__m512i>(sum),
                                                       reinterpret_cast<__m512i>(codes),
                                                       reinterpret_cast<__m512i>(x)));
}

template <bool kSigned>
inline Partial products(Bytes codes, IntVec x) {
  return add_products<kSigned>(Partial{}, codes, x);
}

inline IntVec add_partial(IntVec sum, Partial partial) { return sum + partial; }

inline Vec fused(Vec a, Vec b, Vec c) { return fma(a, b, c); }

}  // namespace
}  // namespace quire
