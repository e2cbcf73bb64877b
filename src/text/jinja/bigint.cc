// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/bigint.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <limits>

#include "text/jinja/limits.h"

namespace quire::jinja {

BigInt::BigInt(std::int64_t value) : negative_(value < 0) {
  std::uint64_t magnitude =
      negative_ ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
  for (; magnitude != 0; magnitude >>= 32) limbs_.push_back(static_cast<std::uint32_t>(magnitude));
}

std::optional<BigInt> BigInt::parse(std::string_view digits, int base) {
  if (digits.empty()) return std::nullopt;
  BigInt result;
  for (const char c : digits) {
    int digit = 99;
    if (c >= '0' && c <= '9') digit = c - '0';
    if (c >= 'a' && c <= 'z') digit = c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') digit = c - 'A' + 10;
    if (digit >= base) return std::nullopt;
    std::uint64_t carry = static_cast<std::uint64_t>(digit);
    for (std::uint32_t& limb : result.limbs_) {
      carry += static_cast<std::uint64_t>(limb) * static_cast<std::uint64_t>(base);
      limb = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) result.limbs_.push_back(static_cast<std::uint32_t>(carry));
  }
  return result;
}

BigInt BigInt::from_double(double value) {
  int exponent = 0;
  const double fraction = std::frexp(std::trunc(value), &exponent);
  if (exponent <= 0) return {};
  BigInt result(static_cast<std::int64_t>(std::ldexp(fraction, 53)));
  const int shift = exponent - 53;
  if (shift >= 0) {
    BigInt power(1);
    power.limbs_.assign(static_cast<std::size_t>(shift / 32) + 1, 0);
    power.limbs_.back() = 1u << (shift % 32);
    return result * power;
  }
  return BigInt(static_cast<std::int64_t>(std::trunc(value)));
}

std::size_t BigInt::bit_length() const {
  if (limbs_.empty()) return 0;
  return limbs_.size() * 32 - static_cast<std::size_t>(std::countl_zero(limbs_.back()));
}

std::size_t BigInt::hash() const {
  const std::string_view limbs(reinterpret_cast<const char*>(limbs_.data()), bytes());
  const std::size_t magnitude = std::hash<std::string_view>{}(limbs);
  return negative_ ? ~magnitude : magnitude;
}

std::optional<std::int64_t> BigInt::small() const {
  if (limbs_.size() > 2) return std::nullopt;
  std::uint64_t magnitude = 0;
  for (std::size_t i = limbs_.size(); i-- > 0;) magnitude = magnitude << 32 | limbs_[i];
  const std::uint64_t limit = std::uint64_t{1} << 63;
  if (magnitude > limit || (magnitude == limit && !negative_)) return std::nullopt;
  return static_cast<std::int64_t>(negative_ ? ~magnitude + 1 : magnitude);
}

double BigInt::to_double() const {
  const std::size_t bits = bit_length();
  if (bits > 1024) {
    const double infinity = std::numeric_limits<double>::infinity();
    return negative_ ? -infinity : infinity;
  }
  // The top 64 bits, the lowest of them set when anything below is: enough to round to 53.
  std::uint64_t top = 0;
  bool rest = false;
  const std::size_t drop = bits > 64 ? bits - 64 : 0;
  for (std::size_t i = 0; i < bits; ++i) {
    const bool bit = (limbs_[i / 32] >> (i % 32) & 1u) != 0;
    if (i < drop) {
      rest = rest || bit;
    } else if (bit) {
      top |= std::uint64_t{1} << (i - drop);
    }
  }
  if (rest) top |= 1;
  const double magnitude = std::ldexp(static_cast<double>(top), static_cast<int>(drop));
  return negative_ ? -magnitude : magnitude;
}

std::string BigInt::to_string(int base) const {
  if (limbs_.empty()) return "0";
  charge_steps(static_cast<std::int64_t>(limbs_.size() * limbs_.size() / 64));
  const auto radix = static_cast<std::uint32_t>(base);
  std::uint32_t power = radix;  // of the radix, the highest that fits in a limb
  int digits = 1;
  for (; power <= UINT32_MAX / radix; power *= radix) ++digits;
  std::string text;
  Limbs rest = limbs_;
  while (!rest.empty()) {
    std::uint32_t part = divide_small(rest, power);
    for (int i = 0; i < digits && (part != 0 || !rest.empty()); ++i, part /= radix) {
      text.push_back("0123456789abcdefghijklmnopqrstuvwxyz"[part % radix]);
    }
  }
  if (negative_) text.push_back('-');
  std::reverse(text.begin(), text.end());
  return text;
}

BigInt BigInt::operator-() const {
  BigInt result = *this;
  result.negative_ = !negative_ && !limbs_.empty();
  return result;
}

BigInt operator+(const BigInt& a, const BigInt& b) {
  BigInt result;
  if (a.negative_ == b.negative_) {
    result.limbs_ = BigInt::add(a.limbs_, b.limbs_);
    result.negative_ = a.negative_;
  } else if (BigInt::compare(a.limbs_, b.limbs_) >= 0) {
    result.limbs_ = BigInt::subtract(a.limbs_, b.limbs_);
    result.negative_ = a.negative_;
  } else {
    result.limbs_ = BigInt::subtract(b.limbs_, a.limbs_);
    result.negative_ = b.negative_;
  }
  if (result.limbs_.empty()) result.negative_ = false;
  return result;
}

BigInt operator-(const BigInt& a, const BigInt& b) { return a + -b; }

BigInt operator*(const BigInt& a, const BigInt& b) {
  BigInt result;
  if (a.zero() || b.zero()) return result;
  result.limbs_.assign(a.limbs_.size() + b.limbs_.size(), 0);
  for (std::size_t i = 0; i < a.limbs_.size(); ++i) {
    std::uint64_t carry = 0;
    for (std::size_t j = 0; j < b.limbs_.size(); ++j) {
      carry += static_cast<std::uint64_t>(a.limbs_[i]) * b.limbs_[j] + result.limbs_[i + j];
      result.limbs_[i + j] = static_cast<std::uint32_t>(carry);
      carry >>= 32;
    }
    result.limbs_[i + b.limbs_.size()] = static_cast<std::uint32_t>(carry);
  }
  BigInt::trim(result.limbs_);
  result.negative_ = a.negative_ != b.negative_;
  return result;
}

void BigInt::divide(const BigInt& a, const BigInt& b, BigInt& quotient, BigInt& remainder) {
  divide(a.limbs_, b.limbs_, quotient.limbs_, remainder.limbs_);
  quotient.negative_ = a.negative_ != b.negative_ && !quotient.limbs_.empty();
  remainder.negative_ = a.negative_ && !remainder.limbs_.empty();
  if (!remainder.zero() && remainder.negative_ != b.negative_) {
    quotient = quotient - BigInt(1);
    remainder = remainder + b;
  }
}

int BigInt::compare(const BigInt& a, const BigInt& b) {
  if (a.negative_ != b.negative_) return a.negative_ ? -1 : 1;
  const int magnitude = compare(a.limbs_, b.limbs_);
  return a.negative_ ? -magnitude : magnitude;
}

int BigInt::compare(const Limbs& a, const Limbs& b) {
  if (a.size() != b.size()) return a.size() < b.size() ? -1 : 1;
  for (std::size_t i = a.size(); i-- > 0;) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

BigInt::Limbs BigInt::add(const Limbs& a, const Limbs& b) {
  Limbs sum;
  std::uint64_t carry = 0;
  for (std::size_t i = 0; i < std::max(a.size(), b.size()) || carry != 0; ++i) {
    if (i < a.size()) carry += a[i];
    if (i < b.size()) carry += b[i];
    sum.push_back(static_cast<std::uint32_t>(carry));
    carry >>= 32;
  }
  return sum;
}

BigInt::Limbs BigInt::subtract(const Limbs& a, const Limbs& b) {
  Limbs difference = a;
  std::int64_t borrow = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::int64_t d = static_cast<std::int64_t>(a[i]) - borrow;
    if (i < b.size()) d -= b[i];
    borrow = d < 0 ? 1 : 0;
    difference[i] = static_cast<std::uint32_t>(d);
  }
  trim(difference);
  return difference;
}

void BigInt::divide(const Limbs& a, const Limbs& b, Limbs& quotient, Limbs& remainder) {
  quotient.clear();
  remainder.clear();
  if (b.size() == 1) {
    quotient = a;
    const std::uint32_t rest = divide_small(quotient, b[0]);
    if (rest != 0) remainder.push_back(rest);
    return;
  }
  // Bit by bit: slow, simple, and hardly ever needed.
  quotient.assign(a.size(), 0);
  for (std::size_t i = a.size() * 32; i-- > 0;) {
    std::uint32_t carry = a[i / 32] >> (i % 32) & 1u;
    for (std::uint32_t& limb : remainder) {
      const std::uint32_t out = limb >> 31;
      limb = limb << 1 | carry;
      carry = out;
    }
    if (carry != 0) remainder.push_back(carry);
    if (compare(remainder, b) >= 0) {
      remainder = subtract(remainder, b);
      quotient[i / 32] |= 1u << (i % 32);
    }
  }
  trim(quotient);
}

std::uint32_t BigInt::divide_small(Limbs& limbs, std::uint32_t divisor) {
  std::uint64_t rest = 0;
  for (std::size_t i = limbs.size(); i-- > 0;) {
    rest = rest << 32 | limbs[i];
    limbs[i] = static_cast<std::uint32_t>(rest / divisor);
    rest %= divisor;
  }
  trim(limbs);
  return static_cast<std::uint32_t>(rest);
}

void BigInt::trim(Limbs& limbs) {
  while (!limbs.empty() && limbs.back() == 0) limbs.pop_back();
}

}  // namespace quire::jinja
