// SPDX-License-Identifier: Apache-2.0
// Equality, order and hashes of values, as Python defines them.
#include <cmath>
#include <compare>
#include <functional>

#include "text/jinja/bytes.h"
#include "text/jinja/value.h"

namespace quire::jinja {
namespace {

BigInt to_big(const Value& v) {
  return v.kind() == Kind::kBigInt ? v.as_big() : BigInt(v.as_int());
}

std::partial_ordering order(int sign) {
  return sign < 0   ? std::partial_ordering::less
         : sign > 0 ? std::partial_ordering::greater
                    : std::partial_ordering::equivalent;
}

// A whole number against a float, exactly.
std::partial_ordering compare_mixed(const Value& whole, double d) {
  if (std::isnan(d)) return std::partial_ordering::unordered;
  if (std::isinf(d)) return order(d > 0 ? -1 : 1);
  const int sign = BigInt::compare(to_big(whole), BigInt::from_double(d));
  if (sign != 0) return order(sign);
  const double fraction = d - std::trunc(d);
  return order(fraction > 0 ? -1 : fraction < 0 ? 1 : 0);
}

std::partial_ordering compare_numbers(const Value& a, const Value& b) {
  const bool a_float = a.kind() == Kind::kFloat;
  const bool b_float = b.kind() == Kind::kFloat;
  if (a_float && b_float) return a.as_float() <=> b.as_float();
  if (b_float) return compare_mixed(a, b.as_float());
  if (a_float) return 0 <=> compare_mixed(b, a.as_float());
  if (a.kind() != Kind::kBigInt && b.kind() != Kind::kBigInt) return a.as_int() <=> b.as_int();
  return order(BigInt::compare(to_big(a), to_big(b)));
}

bool equal_lists(const List& a, const List& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (!identical(a[i], b[i]) && !equal(a[i], b[i])) return false;
  }
  return true;
}

bool equal_dicts(const DictObject& a, const DictObject& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [key, value] : a.items) {
    const Value* other = b.find(key);
    if (other == nullptr || (!identical(value, *other) && !equal(value, *other))) return false;
  }
  return true;
}

bool equal_ranges(const RangeObject& a, const RangeObject& b) {
  const std::int64_t size = a.size();
  if (size != b.size()) return false;
  return size == 0 || (a.start == b.start && (size == 1 || a.step == b.step));
}

bool equal_views(const ViewObject& a, const ViewObject& b) {
  if (a.of != b.of || a.of == ViewObject::Of::kValues) return &a == &b;
  const DictObject& left = a.dict.as_dict();
  const DictObject& right = b.dict.as_dict();
  if (a.of == ViewObject::Of::kItems) return equal_dicts(left, right);
  if (left.size() != right.size()) return false;
  for (const auto& [key, value] : left.items) {
    if (right.find(key) == nullptr) return false;
  }
  return true;
}

std::size_t mix(std::size_t seed, std::size_t hash) {
  return seed ^ (hash + 0x9E3779B97F4A7C15u + (seed << 6) + (seed >> 2));
}

std::size_t hash_float(double d) {
  if (std::isfinite(d) && d == std::trunc(d)) {
    return hash_of(Value::integer(BigInt::from_double(d)));
  }
  return std::hash<double>{}(d);
}

}  // namespace

bool identical(const Value& a, const Value& b) {
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
      return a.as_int() == b.as_int();
    case Kind::kFloat:
      return a.as_float() == b.as_float() || (std::isnan(a.as_float()) && std::isnan(b.as_float()));
    default:
      return a.object() == b.object();
  }
}

bool equal(const Value& a, const Value& b) {
  if (a.is_number() && b.is_number()) {
    return compare_numbers(a, b) == std::partial_ordering::equivalent;
  }
  if (a.kind() != b.kind()) return false;
  switch (a.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return true;
    case Kind::kText:
      charge_steps(static_cast<std::int64_t>(a.as_string().size() / 256));
      return a.as_string() == b.as_string();
    case Kind::kBytes:
      charge_steps(static_cast<std::int64_t>(bytes_of(a).size() / 256));
      return bytes_of(a) == bytes_of(b);
    case Kind::kList:
    case Kind::kTuple: {
      const Nested nested;
      charge_steps(static_cast<std::int64_t>(a.as_list().size()));
      return equal_lists(a.as_list(), b.as_list());
    }
    case Kind::kDict: {
      const Nested nested;
      charge_steps(static_cast<std::int64_t>(a.as_dict().size()));
      return equal_dicts(a.as_dict(), b.as_dict());
    }
    case Kind::kRange:
      return equal_ranges(*a.get<RangeObject>(), *b.get<RangeObject>());
    case Kind::kView:
      return equal_views(*a.get<ViewObject>(), *b.get<ViewObject>());
    default:
      return a.object() == b.object();
  }
}

bool less(const Value& a, const Value& b, std::string_view sign) {
  if (a.is_undefined()) fail_undefined(a);
  if (b.is_undefined()) fail_undefined(b);
  if (a.is_number() && b.is_number()) return compare_numbers(a, b) < 0;
  if (a.is_text() && b.is_text()) {
    charge_steps(static_cast<std::int64_t>(a.as_string().size() / 256));
    return a.as_string() < b.as_string();  // the order of UTF-8 is that of code points
  }
  if (a.kind() == Kind::kBytes && b.kind() == Kind::kBytes) return bytes_of(a) < bytes_of(b);
  if (a.is_sequence() && a.kind() == b.kind()) {
    const Nested nested;
    const List& x = a.as_list();
    const List& y = b.as_list();
    for (std::size_t i = 0; i < x.size() && i < y.size(); ++i) {
      charge_steps(1);
      if (!identical(x[i], y[i]) && !equal(x[i], y[i])) return less(x[i], y[i], sign);
    }
    return x.size() < y.size();
  }
  type_error("'" + std::string(sign) + "' not supported between instances of '" + type_name(a) +
             "' and '" + type_name(b) + "'");
}

std::size_t hash_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 1;
    case Kind::kNone:
      return 2;
    case Kind::kBool:
    case Kind::kInt:
      return std::hash<std::int64_t>{}(value.as_int());
    case Kind::kBigInt:
      charge_steps(static_cast<std::int64_t>(value.as_big().bytes() / 256));
      return value.as_big().hash();
    case Kind::kFloat:
      return hash_float(value.as_float());
    case Kind::kText:
      charge_steps(static_cast<std::int64_t>(value.as_string().size() / 256));
      return std::hash<std::string>{}(value.as_string());
    case Kind::kBytes:
      charge_steps(static_cast<std::int64_t>(bytes_of(value).size() / 256));
      return std::hash<std::string>{}(bytes_of(value));
    case Kind::kTuple: {
      const Nested nested;
      std::size_t hash = 3;
      for (const Value& item : value.as_list()) {
        charge_steps(1);
        hash = mix(hash, hash_of(item));
      }
      return hash;
    }
    case Kind::kRange:
      return mix(4, static_cast<std::size_t>(value.get<RangeObject>()->size()));
    case Kind::kList:
    case Kind::kDict:
    case Kind::kView:
      type_error("unhashable type: '" + type_name(value) + "'");
    default:
      return std::hash<const void*>{}(value.object().get());
  }
}

}  // namespace quire::jinja
