// SPDX-License-Identifier: Apache-2.0
// Numbers as codes of 8, 4 or 2 bits that share a scale and a zero: x = zero + scale * code.
//
// Sums are taken over eight lanes in a fixed order, so that every build gives the same codes.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstdint>
#include <span>

namespace quire {

// Both as f16 and as what that is.
struct Affine {
  std::uint16_t scale_bits;
  std::uint16_t zero_bits;
  float scale;
  float zero;
};

// Whether the ends of a range matter as much as what lies between.
enum class Ends { kKept, kMayBeCut };

// Scale and zero for numbers: from their range and, for 4 and 2 bits, the best by squared error
// that regression finds from there and, if its ends may be cut, from the best narrower range. x is
// not empty.
Affine fit_affine(std::span<const float> x, int bits, Ends ends);

// The nearest codes; 0 for NaN. `codes` has the size of x.
void affine_codes(std::span<const float> x, const Affine& affine, int bits,
                  std::span<std::uint8_t> codes);

}  // namespace quire
