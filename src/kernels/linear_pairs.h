// SPDX-License-Identifier: Apache-2.0
// Linear layers in bf16 where an instruction adds the products of two pairs of bf16 to a float,
// included after linear_impl.h and a header with
//
//   Vec add_pairs(Vec sum, Vec a, Vec b)   lane by lane, each of a and b two bf16 in a float's bits
//
// An output is a chain of these in ascending order of pairs, starting at the bias (or 0).
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/linear_kernels.h"

namespace quire {
namespace {

// A pair of inputs takes the place of a float: packed bf16 weights lie in memory as floats would.
struct PairFormat : F32Format {
  static Vec add(Vec sum, Vec inputs, Vec weights) { return add_pairs(sum, inputs, weights); }
};

// A vector of inputs as half as many pairs.
inline void round_some(const float* x, float* pairs) {
  using Words = std::uint32_t __attribute__((vector_size(4 * kLanes)));
  using Quads = std::uint64_t __attribute__((vector_size(4 * kLanes)));
  using Narrow = std::uint32_t __attribute__((vector_size(2 * kLanes)));
  const Vec v = load(x);
  const auto bits = reinterpret_cast<Words>(v);
  const Words rounded = bits + 0x7fff + ((bits >> 16) & 1);
  const Words kept = v == v ? rounded : bits | 0x400000;
  const auto both = reinterpret_cast<Quads>(kept);
  const auto narrow =
      __builtin_convertvector(((both >> 16) & 0xffff) | ((both >> 32) & 0xffff0000), Narrow);
  std::memcpy(pairs, &narrow, sizeof(narrow));
}

void round_to_pairs(const float* x, std::int64_t k, float* pairs) {
  std::int64_t i = 0;
  for (; i + kLanes <= k; i += kLanes) round_some(x + i, pairs + i / 2);
  if (i == k) return;
  float some[kLanes] = {};
  float rest[kLanes / 2];
  std::memcpy(some, x + i, static_cast<std::size_t>(k - i) * sizeof(float));
  round_some(some, rest);
  std::memcpy(pairs + i / 2, rest, static_cast<std::size_t>((k - i + 1) / 2) * sizeof(float));
}

constexpr LinearPairKernels kLinearPairs = {multiply_block<PairFormat>, round_to_pairs};

}  // namespace
}  // namespace quire
