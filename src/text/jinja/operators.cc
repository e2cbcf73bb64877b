// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/operators.h"

#include <cmath>

#include "text/jinja/bytes.h"

namespace quire::jinja {
namespace {

constexpr std::string_view kSigns[] = {"+", "-", "*", "/", "//", "%", "** or pow()"};
constexpr std::size_t kMaxBits = 64'000;  // of a whole number

[[noreturn]] void unsupported(BinaryOp op, const Value& a, const Value& b) {
  type_error("unsupported operand type(s) for " + std::string(kSigns[static_cast<int>(op)]) +
             ": '" + type_name(a) + "' and '" + type_name(b) + "'");
}

[[noreturn]] void division_by_zero() { value_error("division by zero"); }

Value whole(BigInt value) {
  if (value.bytes() * 8 > kMaxBits) {
    fail(FailureKind::kLimit, "an integer of more than " + std::to_string(kMaxBits) + " bits");
  }
  return Value::integer(value);
}

double floor_divide(double a, double b, double& remainder) {
  remainder = std::fmod(a, b);
  double quotient = (a - remainder) / b;
  if (remainder != 0.0) {
    if ((b < 0) != (remainder < 0)) {
      remainder += b;
      quotient -= 1.0;
    }
  } else {
    remainder = std::copysign(0.0, b);
  }
  if (quotient == 0.0) return std::copysign(0.0, a / b);
  const double floor = std::floor(quotient);
  return quotient - floor > 0.5 ? floor + 1.0 : floor;
}

Value power_of_floats(double a, double b) {
  if (a == 0.0 && b < 0) value_error("0.0 cannot be raised to a negative power: division by zero");
  if (a < 0 && std::isfinite(a) && std::isfinite(b) && b != std::floor(b)) {
    fail(FailureKind::kType, "a complex number is not supported");
  }
  const double result = std::pow(a, b);
  if (std::isinf(result) && std::isfinite(a) && std::isfinite(b)) {
    value_error("the result of a power is too large");
  }
  return Value::number(result);
}

Value float_operation(BinaryOp op, double a, double b) {
  switch (op) {
    case BinaryOp::kAdd:
      return Value::number(a + b);
    case BinaryOp::kSubtract:
      return Value::number(a - b);
    case BinaryOp::kMultiply:
      return Value::number(a * b);
    case BinaryOp::kPower:
      return power_of_floats(a, b);
    default:
      break;
  }
  if (b == 0.0) division_by_zero();
  if (op == BinaryOp::kDivide) return Value::number(a / b);
  double remainder = 0;
  const double quotient = floor_divide(a, b, remainder);
  return Value::number(op == BinaryOp::kFloorDivide ? quotient : remainder);
}

Value power_of_integers(const Value& a, const Value& b) {
  const BigInt base = big_of(a);
  const auto exponent = big_of(b).small();
  if (big_of(b).negative()) return power_of_floats(number_of(a), number_of(b));
  const std::size_t bits = base.bit_length();
  if (bits > 1 && (!exponent || static_cast<std::size_t>(*exponent) > kMaxBits / (bits - 1))) {
    fail(FailureKind::kLimit, "an integer of more than " + std::to_string(kMaxBits) + " bits");
  }
  BigInt result(1);
  BigInt square = base;
  std::int64_t left = exponent.value_or(0);
  if (bits <= 1) {  // 0, 1, -1
    const bool odd = (big_of(b).to_string(2).back() == '1');
    if (base.zero()) return Value::integer(big_of(b).zero() ? 1 : 0);
    return Value::integer(base.negative() && odd ? -1 : 1);
  }
  for (; left > 0; left >>= 1) {
    charge_steps(static_cast<std::int64_t>(square.bytes()));
    if ((left & 1) != 0) result = result * square;
    if (left > 1) square = square * square;
  }
  return whole(result);
}

Value integer_operation(BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::kPower) return power_of_integers(a, b);
  if (a.kind() != Kind::kBigInt && b.kind() != Kind::kBigInt) {
    const std::int64_t x = a.as_int();
    const std::int64_t y = b.as_int();
    std::int64_t result = 0;
    if (op == BinaryOp::kAdd && !__builtin_add_overflow(x, y, &result)) {
      return Value::integer(result);
    }
    if (op == BinaryOp::kSubtract && !__builtin_sub_overflow(x, y, &result)) {
      return Value::integer(result);
    }
    if (op == BinaryOp::kMultiply && !__builtin_mul_overflow(x, y, &result)) {
      return Value::integer(result);
    }
  }
  const BigInt x = big_of(a);
  const BigInt y = big_of(b);
  charge_steps(static_cast<std::int64_t>(x.bytes() * std::max<std::size_t>(y.bytes(), 1) / 64));
  switch (op) {
    case BinaryOp::kAdd:
      return whole(x + y);
    case BinaryOp::kSubtract:
      return whole(x - y);
    case BinaryOp::kMultiply:
      return whole(x * y);
    default:
      break;
  }
  if (y.zero()) division_by_zero();
  if (op == BinaryOp::kDivide) return Value::number(number_of(a) / number_of(b));
  BigInt quotient;
  BigInt remainder;
  BigInt::divide(x, y, quotient, remainder);
  return whole(op == BinaryOp::kFloorDivide ? quotient : remainder);
}

Value concatenate(const Value& a, const Value& b) {
  if (a.is_text() && b.is_text()) {
    if (a.is_markup() != b.is_markup()) {
      const Value& plain = a.is_markup() ? b : a;
      const std::string escaped = escape_html(plain.as_string());
      check_size(a.as_string().size() + escaped.size(), 2);
      return Value::text(a.is_markup() ? a.as_string() + escaped : escaped + b.as_string(), true);
    }
    check_size(a.as_string().size() + b.as_string().size(), 1);
    return Value::text(a.as_string() + b.as_string(), a.is_markup());
  }
  if (a.kind() == Kind::kBytes && b.kind() == Kind::kBytes) {
    check_size(bytes_of(a).size() + bytes_of(b).size(), 1);
    return bytes_value(bytes_of(a) + bytes_of(b));
  }
  if (a.is_sequence() && a.kind() == b.kind()) {
    check_size(a.as_list().size() + b.as_list().size(), sizeof(Value));
    List joined;
    joined.reserve(a.as_list().size() + b.as_list().size());
    joined.insert(joined.end(), a.as_list().begin(), a.as_list().end());
    joined.insert(joined.end(), b.as_list().begin(), b.as_list().end());
    return a.kind() == Kind::kList ? Value::list(std::move(joined))
                                   : Value::tuple(std::move(joined));
  }
  if (a.is_text() && !a.is_markup()) {
    type_error("can only concatenate str (not \"" + type_name(b) + "\") to str");
  }
  unsupported(BinaryOp::kAdd, a, b);
}

Value repeat(const Value& value, const Value& times) {
  const auto count =
      static_cast<std::size_t>(std::max<std::int64_t>(as_index(times).value_or(0), 0));
  if (value.is_text()) {
    const std::string& text = value.as_string();
    if (text.empty() || count == 0) return text_like(value, {});
    check_size(count, text.size());
    std::string repeated;
    repeated.reserve(count * text.size());
    for (std::size_t i = 0; i < count; ++i) repeated += text;
    return text_like(value, std::move(repeated));
  }
  const List& items = value.as_list();
  List repeated;
  if (!items.empty() && count > 0) {
    check_size(count, items.size() * sizeof(Value));
    repeated.reserve(count * items.size());
    for (std::size_t i = 0; i < count; ++i) {
      repeated.insert(repeated.end(), items.begin(), items.end());
    }
  }
  return value.kind() == Kind::kList ? Value::list(std::move(repeated))
                                     : Value::tuple(std::move(repeated));
}

}  // namespace

BigInt big_of(const Value& value) {
  return value.kind() == Kind::kBigInt ? value.as_big() : BigInt(value.as_int());
}

double number_of(const Value& value) {
  if (value.kind() == Kind::kFloat) return value.as_float();
  const double d = big_of(value).to_double();
  if (std::isinf(d)) value_error("int too large to convert to float");
  return d;
}

std::optional<std::int64_t> as_index(const Value& value) {
  if (!value.is_integral()) return std::nullopt;
  if (value.kind() != Kind::kBigInt) return value.as_int();
  return value.as_big().negative() ? INT64_MIN : INT64_MAX;
}

Value binary(BinaryOp op, const Value& a, const Value& b) {
  if (op == BinaryOp::kModulo && a.is_text()) return format_percent(a, b);
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_integral() && b.is_integral()) return integer_operation(op, a, b);
  if (a.is_number() && b.is_number()) return float_operation(op, number_of(a), number_of(b));
  if (op == BinaryOp::kAdd) return concatenate(a, b);
  if (op == BinaryOp::kMultiply) {
    if ((a.is_text() || a.is_sequence()) && b.is_integral()) return repeat(a, b);
    if ((b.is_text() || b.is_sequence()) && a.is_integral()) return repeat(b, a);
  }
  unsupported(op, a, b);
}

Value negate(const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.kind() == Kind::kFloat) return Value::number(-value.as_float());
  if (value.is_integral()) return Value::integer(-big_of(value));
  type_error("bad operand type for unary -: '" + type_name(value) + "'");
}

Value positive(const Value& value) {
  if (value.is_undefined()) fail_undefined(value);
  if (value.kind() == Kind::kFloat) return value;
  if (value.is_integral()) return Value::integer(big_of(value));
  type_error("bad operand type for unary +: '" + type_name(value) + "'");
}

}  // namespace quire::jinja
