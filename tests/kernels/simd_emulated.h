// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes and the products of AVX-512 VNNI in scalar arithmetic, under the names of
// simd_avx512.h and dot_avx512.h that the quantised kernels use: their structure for wide registers
// (two panels' halves in one, twelve rows a tile, signed codes made unsigned) runs on any machine.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/half.h"

namespace quire {
namespace {

constexpr int kLanes = 16;

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));
using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));
using Partial = IntVec;

inline Vec broadcast(float value) { return Vec{} + value; }

inline Vec load_f16(const std::uint16_t* p) {
  Vec v;
  for (int i = 0; i < kLanes; ++i) v[i] = float_from_f16(p[i]);
  return v;
}

inline IntVec load_u8(const std::uint8_t* p) {
  IntVec v;
  for (int i = 0; i < kLanes; ++i) v[i] = p[i];
  return v;
}

constexpr int kQuantisedTile = 12;
constexpr int kQuantisedFew = 4;
constexpr int kSignedOffset = 128;

constexpr int partial_products(int) { return 8; }

template <bool kSigned>
Partial add_products(Partial sum, Bytes codes, IntVec x) {
  if (kSigned) codes ^= kSignedOffset;
  const auto activations = reinterpret_cast<Bytes>(x);
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 4 * lane; i < 4 * lane + 4; ++i) {
      sum[lane] += codes[i] * static_cast<std::int8_t>(activations[i]);
    }
  }
  return sum;
}

inline IntVec add_partial(IntVec sum, Partial partial) { return sum + partial; }

inline Vec fused(Vec a, Vec b, Vec c) {
  for (int lane = 0; lane < kLanes; ++lane) c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return c;
}

}  // namespace
}  // namespace quire
