// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/number_format.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "text/jinja/methods.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

constexpr std::int64_t kMaxPrecision = 10'000;

std::string with_printf(double value, char type, std::int64_t precision) {
  const auto print = [&](char* out, std::size_t size) {
    const int digits = static_cast<int>(precision);
    return type == 'e' ? std::snprintf(out, size, "%.*e", digits, value)
                       : std::snprintf(out, size, "%.*f", digits, value);
  };
  std::string out(static_cast<std::size_t>(print(nullptr, 0)) + 1, '\0');
  print(out.data(), out.size());
  out.pop_back();
  return out;
}

std::string without_trailing_zeros(const std::string& digits) {
  const std::size_t e = digits.find('e');
  std::string mantissa = digits.substr(0, e);
  const std::string exponent = e == std::string::npos ? "" : digits.substr(e);
  if (mantissa.find('.') != std::string::npos) {
    mantissa.erase(mantissa.find_last_not_of('0') + 1);
    if (mantissa.back() == '.') mantissa.pop_back();
  }
  return mantissa + exponent;
}

// `dotted`: as repr does it, with one digit behind the point at least.
std::string general(double value, std::int64_t precision, bool alternate, bool dotted) {
  precision = std::max<std::int64_t>(precision, 1);
  const std::string scientific = with_printf(value, 'e', precision - 1);
  const int exponent = std::stoi(scientific.substr(scientific.find('e') + 1));
  const bool use_exponent = exponent < -4 || exponent + 1 > precision - (dotted ? 1 : 0);
  std::string digits =
      use_exponent ? scientific : with_printf(value, 'f', precision - 1 - exponent);
  if (!alternate) digits = without_trailing_zeros(digits);
  if (dotted && !use_exponent && digits.find('.') == std::string::npos) digits += ".0";
  return digits;
}

}  // namespace

std::string float_digits(double magnitude, char type, std::int64_t precision, bool alternate) {
  if (precision > kMaxPrecision) value_error("precision too big");
  const char lower = static_cast<char>(type | 0x20);
  std::string digits;
  if (std::isnan(magnitude) || std::isinf(magnitude)) {
    digits = std::isnan(magnitude) ? "nan" : "inf";
    if (type == '%') digits += '%';
  } else if (type == '\0') {
    digits = precision < 0 ? float_repr(magnitude) : general(magnitude, precision, alternate, true);
  } else if (type == '%') {
    digits = with_printf(magnitude * 100, 'f', precision < 0 ? 6 : precision) + "%";
  } else if (lower == 'g') {
    digits = general(magnitude, precision < 0 ? 6 : precision, alternate, false);
  } else {
    digits = with_printf(magnitude, lower, precision < 0 ? 6 : precision);
    if (alternate && precision == 0) {
      digits.insert(std::min(digits.find('e'), digits.size()), ".");
    }
  }
  if (type >= 'A' && type <= 'Z') digits = to_upper(digits);
  return digits;
}

std::string grouped(const std::string& digits, char separator, int size) {
  if (separator == '\0') return digits;
  const std::size_t end = std::min(digits.find_first_of(".e%E"), digits.size());
  std::string out;
  for (std::size_t i = 0; i < end; ++i) {
    if (i > 0 && (end - i) % static_cast<std::size_t>(size) == 0) out.push_back(separator);
    out.push_back(digits[i]);
  }
  return out + digits.substr(end);
}

std::string sign_of(bool negative, const FieldStyle& style) {
  if (negative) return "-";
  return style.sign == '-' ? std::string() : std::string(1, style.sign);
}

std::string in_field(const FieldStyle& style, char default_align, const std::string& sign,
                     const std::string& digits) {
  const char align = style.align == '\0' ? default_align : style.align;
  if (align == '=') {
    const auto used = static_cast<std::int64_t>(count_code_points(sign));
    return sign + pad(digits, style.width - used, style.fill, true, false);
  }
  if (align != '^') {
    return pad(sign + digits, style.width, style.fill, align == '>', align == '<');
  }
  // Centred as format() does it: an odd space goes right.
  const std::string text = sign + digits;
  const auto length = static_cast<std::int64_t>(count_code_points(text));
  const std::int64_t left = std::max<std::int64_t>(style.width - length, 0) / 2;
  return pad(pad(text, length + left, style.fill, true, false), style.width, style.fill, false,
             true);
}

}  // namespace quire::jinja
