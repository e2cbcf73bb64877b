// SPDX-License-Identifier: Apache-2.0
// AVX2 with FMA and F16C; see simd_portable.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace quire {
namespace {

constexpr int kLanes = 8;
constexpr int kTileRows = 6;      // of a product's tile: rows,
constexpr int kStreamPanels = 4;  // panels of 16 columns for a single row,
constexpr int kSums = 12;         // and vectors of sums that fit the 16 registers

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));

inline Vec broadcast(float value) { return _mm256_set1_ps(value); }

// a * b + c, rounded once.
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }

inline Vec load_f16(const std::uint16_t* p) {
  __m128i halves;
  std::memcpy(&halves, p, sizeof(halves));
  return _mm256_cvtph_ps(halves);
}

inline IntVec load_u16(const std::uint16_t* p) {
  __m128i narrow;
  std::memcpy(&narrow, p, sizeof(narrow));
  return reinterpret_cast<IntVec>(_mm256_cvtepu16_epi32(narrow));
}

inline IntVec load_u8(const std::uint8_t* p) {
  return reinterpret_cast<IntVec>(
      _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i_u*>(p))));
}

}  // namespace
}  // namespace quire
