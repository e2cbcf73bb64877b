// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire::jinja {

// Whole numbers of any size, with Python's rules: division rounds down, and the remainder has the
// sign of the divisor. Schoolbook methods; callers bound the sizes.
class BigInt {
 public:
  static constexpr std::size_t kMaxDigits = 4300;  // that Python reads in a text

  BigInt() = default;
  BigInt(std::int64_t value);  // NOLINT: a small number is a number

  // Digits of `base` (2 … 36) without a sign or separators; nothing if there are others or none.
  static std::optional<BigInt> parse(std::string_view digits, int base = 10);
  // The integral part. REQUIRES: finite.
  static BigInt from_double(double value);

  bool negative() const { return negative_; }
  bool zero() const { return limbs_.empty(); }
  std::size_t bytes() const { return limbs_.size() * sizeof(std::uint32_t); }
  std::size_t bit_length() const;
  std::size_t hash() const;  // equal numbers have the same

  std::optional<std::int64_t> small() const;  // where it fits
  double to_double() const;                   // correctly rounded; infinite where too large
  std::string to_string(int base = 10) const;

  BigInt operator-() const;
  friend BigInt operator+(const BigInt& a, const BigInt& b);
  friend BigInt operator-(const BigInt& a, const BigInt& b);
  friend BigInt operator*(const BigInt& a, const BigInt& b);
  // REQUIRES: b is not zero.
  static void divide(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder);

  // Negative, zero, positive.
  static int compare(const BigInt& a, const BigInt& b);

 private:
  using Limbs = std::vector<std::uint32_t>;  // least significant first, no leading zeros

  static int compare(const Limbs& a, const Limbs& b);
  static Limbs add(const Limbs& a, const Limbs& b);
  static Limbs subtract(const Limbs& a, const Limbs& b);  // REQUIRES: a >= b
  static void divide(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder);
  static std::uint32_t divide_small(Limbs& limbs, std::uint32_t divisor);
  static void trim(Limbs& limbs);

  Limbs limbs_;
  bool negative_ = false;
};

}  // namespace quire::jinja
