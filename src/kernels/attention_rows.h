// SPDX-License-Identifier: Apache-2.0
// How the rows of a page are read as floats, one vector of columns at a time. Included by
// attention_impl.h after simd_<isa>.h and simd.h.
//
// A reader has: load(row, column, j), the vector that begins at column + j kLanes, where column is
// a multiple of kUnit if the reader is of codes; load_some(row, column, count), its first `count`
// lanes; prefetch(row, column), which fetches what lies `ahead` bytes after that unit. Vector j is
// known when a loop is unrolled, so shifts of codes are constants.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels/attention_kernels.h"

namespace quire {
namespace {

// Pages lie anywhere, so the processor cannot guess which is next. An address is only a hint here
// and need not be valid.
template <int kBytes>
inline void prefetch_bytes(const void* p, std::int64_t ahead) {
  constexpr int kLine = 64;
  const auto address = reinterpret_cast<std::uintptr_t>(p) + static_cast<std::uintptr_t>(ahead);
  for (int i = 0; i < kBytes; i += kLine) prefetch_line(address + static_cast<std::uintptr_t>(i));
}

inline Vec load_bf16(const std::uint16_t* p) { return as_float(load_u16(p) << 16); }

// Rows of plain numbers, `stride` numbers apart.
template <typename T, Vec (*kLoad)(const T*)>
struct NumberRows {
  const T* data;
  std::int64_t stride;
  std::int64_t ahead = 0;

  Vec load(std::int64_t row, std::int64_t column, int j) const {
    return kLoad(data + row * stride + column + j * kLanes);
  }
  Vec load_some(std::int64_t row, std::int64_t column, std::int64_t count) const {
    T some[kLanes] = {};
    std::memcpy(some, data + row * stride + column, static_cast<std::size_t>(count) * sizeof(T));
    return kLoad(some);
  }
  void prefetch(std::int64_t row, std::int64_t column) const {
    prefetch_bytes<kUnit * sizeof(T)>(data + row * stride + column, ahead);
  }
};
using F32Rows = NumberRows<float, load>;
using Bf16Rows = NumberRows<std::uint16_t, load_bf16>;
using F16Rows = NumberRows<std::uint16_t, load_f16>;

// Rows of codes in units of kUnit columns, `stride` bytes apart. With 8 / kBits codes in a byte,
// byte i of a unit holds columns i, i + n, i + 2n, … from its low bits up, n the bytes of a unit.
template <int kBits>
struct CodeRows {
  static constexpr int kUnitBytes = static_cast<int>(kUnit) * kBits / 8;
  const std::uint8_t* data;
  std::int64_t stride;
  std::int64_t ahead = 0;

  Vec load(std::int64_t row, std::int64_t column, int j) const {
    const std::uint8_t* unit = data + row * stride + column / kUnit * kUnitBytes;
    const int first = j * kLanes;
    return __builtin_convertvector(codes(unit, first), Vec);
  }
  Vec load_some(std::int64_t row, std::int64_t column, std::int64_t) const {
    return load(row, column, 0);
  }
  void prefetch(std::int64_t row, std::int64_t column) const {
    prefetch_bytes<kUnitBytes>(data + row * stride + column / kUnit * kUnitBytes, ahead);
  }

 private:
  static IntVec codes(const std::uint8_t* unit, int first) {
    if constexpr (kLanes <= kUnitBytes) {
      const IntVec bytes = load_u8(unit + first % kUnitBytes);
      const int shift = first / kUnitBytes * kBits;
      const IntVec shifted = bytes >> shift;
      if (shift == 8 - kBits) return shifted;  // nothing is above the last code
      return low_bits<kBits>(shifted);
    } else {
      // Two runs of the unit's bytes; the second takes the next code of each.
      static_assert(kLanes == 2 * kUnitBytes);
      std::uint8_t twice[kLanes];
      std::memcpy(twice, unit, kUnitBytes);
      std::memcpy(twice + kUnitBytes, unit, kUnitBytes);
      IntVec shifts{};
      for (int i = 0; i < kLanes; ++i) shifts[i] = (first + i) / kUnitBytes * kBits;
      return low_bits<kBits>(load_u8(twice) >> shifts);
    }
  }
};

}  // namespace
}  // namespace quire
