// SPDX-License-Identifier: Apache-2.0
// Sixteen lanes, the products of AVX-512 VNNI and those of AVX512_BF16 in scalar arithmetic, under
// the names of simd_avx512.h, dot_avx512.h and pairs_avx512.h that linear layers use: their
// structure for wide registers (two panels' halves in one, twelve rows a tile, signed codes made
// unsigned, pairs of inputs) runs on any machine.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/half.h"

namespace quire {
namespace {

constexpr int kLanes = 16;
constexpr int kRegisters = 32;
constexpr int kTileRows = 8;
constexpr int kStreamPanels = 8;

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));
using Bytes = std::uint8_t __attribute__((vector_size(4 * kLanes)));
using Partial = IntVec;

// Without arithmetic: the value may be a pair of bf16.
inline Vec broadcast(float value) {
  Vec v;
  for (int i = 0; i < kLanes; ++i) v[i] = value;
  return v;
}

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

inline void prefetch_line(std::uintptr_t) {}

constexpr int kQuantisedTile = 12;
constexpr int kQuantisedFew[] = {4, 8};
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

template <bool kSigned>
inline Partial products(Bytes codes, IntVec x) {
  return add_products<kSigned>(Partial{}, codes, x);
}

inline IntVec add_partial(IntVec sum, Partial partial) { return sum + partial; }

inline Vec add_pairs(Vec sum, Vec a, Vec b) {
  std::uint16_t x[2 * kLanes];
  std::uint16_t y[2 * kLanes];
  std::memcpy(x, &a, sizeof(x));
  std::memcpy(y, &b, sizeof(y));
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int i = 2 * lane + 1; i >= 2 * lane; --i) {
      sum[lane] = __builtin_fmaf(float_from_bf16(x[i]), float_from_bf16(y[i]), sum[lane]);
    }
  }
  return sum;
}

inline IntVec load_u16(const std::uint16_t* p) {
  IntVec v;
  for (int i = 0; i < kLanes; ++i) v[i] = p[i];
  return v;
}

inline IntVec high_halves(IntVec v) { return v & static_cast<std::int32_t>(0xffff0000); }

inline Vec fused(Vec a, Vec b, Vec c) {
  for (int lane = 0; lane < kLanes; ++lane) c[lane] = __builtin_fmaf(a[lane], b[lane], c[lane]);
  return c;
}

inline Vec accumulate(Vec sum, Vec a, Vec b) { return fused(a, b, sum); }

}  // namespace
}  // namespace quire
