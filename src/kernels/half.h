// SPDX-License-Identifier: Apache-2.0
// 16-bit floating-point numbers as raw bits. Narrowing rounds to nearest, ties to even; too large
// becomes infinity; NaN stays NaN.
//
// Thread-safety: pure functions.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace quire {

inline float float_from_bf16(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

inline std::uint16_t bf16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(bits >> 16 | 0x40);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

inline float float_from_f16(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000U | magnitude << 13);
  // The exponents' biases differ by 112; the product is exact and normalises subnormals.
  const float value = std::bit_cast<float>(magnitude << 13) * 0x1p112F;
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) | sign);
}

inline std::uint16_t f16_from_float(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const float size = std::fabs(value);
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7e00);
  if (size >= 65520.0F) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (size < 0x1p-14F) {
    // Subnormal: adding 1/2 leaves a multiple of 2^-24 in the low bits, rounded by the addition.
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(size + 0.5F) & 0x7ff));
  }
  const std::uint32_t magnitude = (bits & 0x7fffffffU) - (112U << 23);
  return static_cast<std::uint16_t>(sign | (magnitude + 0xfff + (magnitude >> 13 & 1)) >> 13);
}

}  // namespace quire
