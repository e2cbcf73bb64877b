// SPDX-License-Identifier: Apache-2.0
// AVX2 with FMA and F16C; see simd_portable.h.
#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace quire {
namespace {

constexpr int kLanes = 8;
constexpr int kRegisters = 16;
constexpr int kTileRows = 6;      // of a matrix product's tile,
constexpr int kStreamPanels = 4;  // and panels side by side for a single row

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));

inline Vec broadcast(float value) { return _mm256_set1_ps(value); }

// a * b + c, rounded once.
inline Vec fma(Vec a, Vec b, Vec c) { return _mm256_fmadd_ps(a, b, c); }

// fma(a, b, sum) in the sum's own register: compilers that choose another form of the
// instruction run out of registers in a matrix product.
inline Vec accumulate(Vec sum, Vec a, Vec b) {
  asm("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b));
  return sum;
}

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

// In assembly that is run as often as it is written: a unit of codes that is needed twice is read
// twice, where compilers would give it one of the registers that hold sums.
inline IntVec load_u8(const std::uint8_t* p) {
  IntVec v;
  asm volatile("vpmovzxbd %1, %0"
               : "=x"(v)
               : "m"(*reinterpret_cast<const std::uint8_t(*)[kLanes]>(p)));
  return v;
}

// The lanes' lowest bits. The mask stays in memory for the same reason.
template <int kBits>
inline IntVec low_bits(IntVec v) {
  alignas(32) static constexpr std::array<std::int32_t, kLanes> kMask = [] {
    std::array<std::int32_t, kLanes> mask{};
    mask.fill((1 << kBits) - 1);
    return mask;
  }();
  IntVec low;
  asm("vpand %2, %1, %0" : "=x"(low) : "x"(v), "m"(kMask));
  return low;
}

// In assembly, since compilers take their builtin for a read of anything, and store the sums that
// they hold in registers before it.
inline void prefetch_line(std::uintptr_t address) {
  asm volatile("prefetcht0 (%0)" : : "r"(address));
}

// The lanes without their lower 16 bits. A zero is made anew where a mask would occupy one of the
// registers, all of which a matrix product needs.
inline IntVec high_halves(IntVec v) {
  return reinterpret_cast<IntVec>(
      _mm256_blend_epi16(_mm256_setzero_si256(), reinterpret_cast<__m256i>(v), 0xaa));
}

}  // namespace
}  // namespace quire
