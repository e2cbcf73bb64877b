// SPDX-License-Identifier: Apache-2.0
// The vector type and the few operations on it that differ by instruction set: baseline version,
// four lanes in the compiler's generic vectors. simd_avx2.h and simd_avx512.h have the same names.
//
// Everything that a kernel file for one instruction set compiles lives in an anonymous namespace,
// and such a file uses no template or inline function of the standard library: code compiled with
// wider instructions must never be what the linker picks for the rest of the program.
#pragma once

#include <cstdint>
#include <cstring>

namespace quire {
namespace {

constexpr int kLanes = 4;
constexpr int kRegisters = 16;
constexpr int kTileRows = 2;      // of a matrix product's tile,
constexpr int kStreamPanels = 2;  // and panels side by side for a single row

using Vec = float __attribute__((vector_size(4 * kLanes)));
using IntVec = std::int32_t __attribute__((vector_size(4 * kLanes)));

inline Vec broadcast(float value) { return Vec{value, value, value, value}; }

// a * b + c, rounded twice.
inline Vec fma(Vec a, Vec b, Vec c) { return a * b + c; }

// fma(a, b, sum).
inline Vec accumulate(Vec sum, Vec a, Vec b) { return fma(a, b, sum); }

// kLanes half-precision numbers. Shifting the exponent and mantissa into place leaves a factor of
// 2^112, which also normalises subnormals; infinity and NaN then get the largest exponent.
inline Vec load_f16(const std::uint16_t* p) {
  IntVec bits{p[0], p[1], p[2], p[3]};
  const IntVec sign = (bits & 0x8000) << 16;
  const IntVec magnitude = bits & 0x7fff;
  const Vec value = reinterpret_cast<Vec>(magnitude << 13) * 0x1p112F;
  const IntVec special = (magnitude >= 0x7c00) & 0x7f800000;
  return reinterpret_cast<Vec>(reinterpret_cast<IntVec>(value) | special | sign);
}

// kLanes unsigned integers of 16 or 8 bits.
inline IntVec load_u16(const std::uint16_t* p) { return IntVec{p[0], p[1], p[2], p[3]}; }
inline IntVec load_u8(const std::uint8_t* p) { return IntVec{p[0], p[1], p[2], p[3]}; }

// The lanes' lowest bits.
template <int kBits>
inline IntVec low_bits(IntVec v) {
  return v & ((1 << kBits) - 1);
}

// The lanes without their lower 16 bits.
inline IntVec high_halves(IntVec v) { return v & static_cast<std::int32_t>(0xffff0000); }

// Hints that the line of memory at `address`, valid or not, will be read.
inline void prefetch_line(std::uintptr_t address) {
  __builtin_prefetch(reinterpret_cast<const void*>(address));
}

}  // namespace
}  // namespace quire
