// SPDX-License-Identifier: Apache-2.0
// AVX-512 F, BW, DQ, VL; see simd_portable.h.
#pragma once

#include <immintrin.h>

#include <cstdint>
#include <cstring>

namespace quire {
namespace {

constexpr int kLanes = 16;
constexpr int kRegisters = 32;
constexpr int kTileRows = 8;      // of a matrix product's tile,
constexpr int kStreamPanels = 8;  // and panels side by side for a single row

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));

inline Vec broadcast(float value) { return _mm512_set1_ps(value); }

// a * b + c, rounded once.
inline Vec fma(Vec a, Vec b, Vec c) { return _mm512_fmadd_ps(a, b, c); }

// fma(a, b, sum) in the sum's own register; see simd_avx2.h.
inline Vec accumulate(Vec sum, Vec a, Vec b) {
  asm("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}

inline Vec load_f16(const std::uint16_t* p) {
  __m256i halves;
  std::memcpy(&halves, p, sizeof(halves));
  return _mm512_cvtph_ps(halves);
}

inline IntVec load_u16(const std::uint16_t* p) {
  __m256i narrow;
  std::memcpy(&narrow, p, sizeof(narrow));
  return reinterpret_cast<IntVec>(_mm512_cvtepu16_epi32(narrow));
}

inline IntVec load_u8(const std::uint8_t* p) {
  __m128i narrow;
  std::memcpy(&narrow, p, sizeof(narrow));
  return reinterpret_cast<IntVec>(_mm512_cvtepu8_epi32(narrow));
}

// The lanes' lowest bits.
template <int kBits>
inline IntVec low_bits(IntVec v) {
  return v & ((1 << kBits) - 1);
}

// The lanes without their lower 16 bits.
inline IntVec high_halves(IntVec v) { return v & static_cast<std::int32_t>(0xffff0000); }

// In assembly, since compilers take their builtin for a read of anything, and store the sums that
// they hold in registers before it.
inline void prefetch_line(std::uintptr_t address) {
  asm volatile("prefetcht0 (%0)" : : "r"(address));
}

}  // namespace
}  // namespace quire
