// SPDX-License-Identifier: Apache-2.0
// Filters on numbers.
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "text/jinja/filters.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"

namespace quire::jinja {
namespace {

// Digits without the single underscores between them; nothing for misplaced ones.
std::optional<std::string> plain_digits(std::string_view text) {
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '_') {
      out.push_back(text[i]);
    } else if (i == 0 || i + 1 == text.size() || text[i - 1] == '_') {
      return std::nullopt;
    }
  }
  return out;
}

Value absolute(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("abs", std::move(arguments), {});
  if (!input.is_number()) {
    type_error("bad operand type for abs(): '" + type_name(input) + "'");
  }
  if (input.kind() == Kind::kFloat) return Value::number(std::fabs(input.as_float()));
  const BigInt big = big_of(input);
  return Value::integer(big.negative() ? -big : big);
}

std::optional<Value> whole_part(double d) {
  if (!std::isfinite(d)) return std::nullopt;
  return Value::integer(BigInt::from_double(d));
}

Value to_int(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("int", std::move(arguments), {"default", "base"});
  if (input.is_undefined()) fail_undefined(input);
  const Value fallback = bound.or_else(0, Value::integer(0));
  if (input.is_text()) {
    if (auto value = parse_integer(input.as_string(), bound.integer(1, 10))) {
      return Value::integer(*value);
    }
    const auto real = parse_float(input.as_string());
    return real ? whole_part(*real).value_or(fallback) : fallback;
  }
  if (input.is_integral()) return Value::integer(big_of(input));
  if (input.kind() != Kind::kFloat) return fallback;
  if (std::isinf(input.as_float())) value_error("cannot convert float infinity to integer");
  return whole_part(input.as_float()).value_or(fallback);
}

Value to_float(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("float", std::move(arguments), {"default"});
  if (input.is_undefined()) fail_undefined(input);
  if (input.is_number()) return Value::number(number_of(input));
  if (input.is_text()) {
    if (const auto real = parse_float(input.as_string())) return Value::number(*real);
  }
  return bound.or_else(0, Value::number(0));
}

// To the nearest, ties to the even digit: decided on the exact decimal value.
Value round_common(const Value& value, std::int64_t precision) {
  if (value.is_integral()) {
    if (precision >= 0) return Value::integer(big_of(value));
    if (precision < -400) return Value::integer(0);
    const Value unit = binary(BinaryOp::kPower, Value::integer(10), Value::integer(-precision));
    const Value rest = binary(BinaryOp::kModulo, value, unit);
    Value down = binary(BinaryOp::kSubtract, value, rest);
    const Value twice = binary(BinaryOp::kMultiply, rest, Value::integer(2));
    const Value quotient = binary(BinaryOp::kFloorDivide, down, unit);
    const bool odd = truthy(binary(BinaryOp::kModulo, quotient, Value::integer(2)));
    const bool up = less(unit, twice) || (equal(unit, twice) && odd);
    return up ? binary(BinaryOp::kAdd, down, unit) : down;
  }
  const double d = value.as_float();
  if (!std::isfinite(d) || precision > 400) return value;
  if (precision < -400) return Value::number(std::copysign(0.0, d));
  if (precision < 0) {
    const double unit = std::pow(10.0, static_cast<double>(-precision));
    return Value::number(std::nearbyint(d / unit) * unit);
  }
  std::array<char, 1024> digits{};
  std::snprintf(digits.data(), digits.size(), "%.*f", static_cast<int>(precision), d);
  return Value::number(std::strtod(digits.data(), nullptr));
}

Value round_filter(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("round", std::move(arguments), {"precision", "method"});
  const Value method = bound.or_else(1, Value::text("common"));
  const std::string name = to_text(method);
  if (name != "common" && name != "ceil" && name != "floor") {
    value_error("method must be common, ceil or floor");
  }
  if (!input.is_number()) {
    type_error("type " + type_name(input) + " doesn't define __round__ method");
  }
  const std::int64_t precision = bound.integer(0, 0);
  if (name == "common") return round_common(input, precision);
  const Value scale =
      binary(BinaryOp::kPower, Value::integer(10), bound.or_else(0, Value::integer(0)));
  const Value scaled = binary(BinaryOp::kMultiply, input, scale);
  Value whole = scaled;
  if (scaled.kind() == Kind::kFloat) {
    const double d = scaled.as_float();
    if (!std::isfinite(d)) value_error("cannot convert float infinity or NaN to integer");
    whole = Value::integer(BigInt::from_double(name == "ceil" ? std::ceil(d) : std::floor(d)));
  }
  return binary(BinaryOp::kDivide, whole, scale);
}

Value filesizeformat(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("filesizeformat", std::move(arguments), {"binary"});
  if (input.is_undefined()) fail_undefined(input);
  double bytes = 0;
  if (input.is_number()) {
    bytes = number_of(input);
  } else if (input.is_text()) {
    const auto real = parse_float(input.as_string());
    if (!real) value_error("could not convert string to float: " + to_repr(input));
    bytes = *real;
  } else {
    type_error("filesizeformat needs a number, not '" + type_name(input) + "'");
  }
  const bool powers_of_two = bound.flag(0);
  const double base = powers_of_two ? 1024 : 1000;
  if (bytes == 1) return Value::text("1 Byte");
  if (bytes < base) {
    return Value::text(to_text(Value::integer(BigInt::from_double(bytes))) + " Bytes");
  }
  double unit = base;
  const std::string prefixes = powers_of_two ? "KMGTPEZY" : "kMGTPEZY";
  std::size_t i = 0;
  for (unit = base * base; i + 1 < prefixes.size() && bytes >= unit; ++i) unit *= base;
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.1f", base * bytes / unit);
  return Value::text(std::string(text.data()) + " " + prefixes[i] + (powers_of_two ? "iB" : "B"));
}

constexpr Filter kFilters[] = {
    {"abs", absolute},
    {"int", to_int},
    {"float", to_float},
    {"round", round_filter},
    {"filesizeformat", filesizeformat},
};

}  // namespace

std::optional<BigInt> parse_integer(std::string_view text, std::int64_t base) {
  const std::string trimmed = strip(text, nullptr, true, true);
  std::string_view rest = trimmed;
  const bool negative = rest.starts_with("-");
  if (negative || rest.starts_with("+")) rest.remove_prefix(1);
  if (base != 0 && (base < 2 || base > 36)) return std::nullopt;
  const auto prefix = [&](char letter, std::int64_t value) {
    const bool found = rest.size() > 1 && rest[0] == '0' && (rest[1] | 0x20) == letter;
    if (!found || (base != value && base != 0)) return;
    base = value;
    rest.remove_prefix(2);
    if (rest.starts_with("_")) rest.remove_prefix(1);
  };
  prefix('x', 16);
  prefix('o', 8);
  prefix('b', 2);
  const auto digits = plain_digits(rest);
  if (!digits || digits->size() > BigInt::kMaxDigits) return std::nullopt;
  auto value = BigInt::parse(*digits, base == 0 ? 10 : static_cast<int>(base));
  if (value && negative) return -*value;
  return value;
}

std::optional<double> parse_float(std::string_view text) {
  const auto plain = plain_digits(strip(text, nullptr, true, true));
  if (!plain || plain->empty()) return std::nullopt;
  const std::string& s = *plain;
  std::string_view rest = s;
  const bool negative = rest.starts_with("-");
  if (negative || rest.starts_with("+")) rest.remove_prefix(1);
  std::string word(rest);
  for (char& c : word) c = static_cast<char>(c | 0x20);
  const double sign = negative ? -1 : 1;
  if (word == "inf" || word == "infinity") return sign * HUGE_VAL;
  if (word == "nan") return std::nan("");
  if (rest.find_first_not_of("0123456789.eE+-") != std::string_view::npos || rest.empty() ||
      rest.find_first_of("0123456789.") != 0) {
    return std::nullopt;
  }
  char* end = nullptr;
  const double d = std::strtod(s.c_str(), &end);
  if (end != s.c_str() + s.size()) return std::nullopt;
  return d;
}

FilterFunction find_number_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
