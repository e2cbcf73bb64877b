// SPDX-License-Identifier: Apache-2.0
// What all instruction sets share on top of simd_<isa>.h, which a kernel file includes first.
#pragma once

#include <cstdint>
#include <cstring>

namespace quire {
namespace {

inline Vec load(const float* p) {
  Vec v;
  std::memcpy(&v, p, sizeof(v));
  return v;
}

inline void store(float* p, Vec v) { std::memcpy(p, &v, sizeof(v)); }

// The first `count` lanes; the others read as zero and are not written.
inline Vec load_first(const float* p, std::int64_t count) {
  Vec v{};
  std::memcpy(&v, p, static_cast<std::size_t>(count) * sizeof(float));
  return v;
}

inline void store_first(float* p, Vec v, std::int64_t count) {
  std::memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
}

// A vector of a row of which `valid` elements are left, perhaps none: the rest reads as zero and is
// not written.
inline Vec load_outputs(const float* from, std::int64_t valid) {
  if (valid >= kLanes) return load(from);
  return valid > 0 ? load_first(from, valid) : Vec{};
}

inline void store_outputs(float* to, Vec sums, std::int64_t valid) {
  if (valid >= kLanes) {
    store(to, sums);
  } else if (valid > 0) {
    store_first(to, sums, valid);
  }
}

inline Vec as_float(IntVec v) { return reinterpret_cast<Vec>(v); }
inline IntVec as_int(Vec v) { return reinterpret_cast<IntVec>(v); }

// NaN in `a` stays.
inline Vec at_least(Vec a, float low) { return a < broadcast(low) ? broadcast(low) : a; }
inline Vec at_most(Vec a, float high) { return a > broadcast(high) ? broadcast(high) : a; }

inline Vec abs(Vec v) { return as_float(as_int(v) & 0x7fffffff); }
inline Vec copy_sign(Vec magnitude, Vec sign) {
  return as_float(as_int(magnitude) | (as_int(sign) & static_cast<std::int32_t>(0x80000000)));
}

// The sum of the lanes, in halves: lane i is added to lane i + width / 2.
inline float sum_lanes(Vec v) {
  float lanes[kLanes];
  store(lanes, v);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lanes[i] += lanes[i + width];
  }
  return lanes[0];
}

}  // namespace
}  // namespace quire
