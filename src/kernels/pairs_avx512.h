// SPDX-License-Identifier: Apache-2.0
// AVX512_BF16; see linear_pairs.h.
#pragma once

namespace quire {
namespace {

// In assembly for the reasons of accumulate(), and so that no flag is needed for one instruction.
inline Vec add_pairs(Vec sum, Vec a, Vec b) {
  asm("vdpbf16ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  return sum;
}

}  // namespace
}  // namespace quire
