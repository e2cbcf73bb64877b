// SPDX-License-Identifier: Apache-2.0
// The tests behind `is`.
#include "text/jinja/arguments.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

template <bool (*property)(const Value&)>
bool simple(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("test", std::move(arguments), {});
  return property(input);
}

bool remainder_is(const Value& value, const Value& divisor, std::int64_t wanted) {
  return equal(binary(BinaryOp::kModulo, value, divisor), Value::integer(wanted));
}

bool is_odd(const Value& v) { return remainder_is(v, Value::integer(2), 1); }
bool is_even(const Value& v) { return remainder_is(v, Value::integer(2), 0); }
bool is_defined(const Value& v) { return !v.is_undefined(); }
bool is_undefined(const Value& v) { return v.is_undefined(); }
bool is_none(const Value& v) { return v.is_none(); }
bool is_boolean(const Value& v) { return v.kind() == Kind::kBool; }
bool is_true(const Value& v) { return v.kind() == Kind::kBool && v.as_bool(); }
bool is_false(const Value& v) { return v.kind() == Kind::kBool && !v.as_bool(); }
bool is_integer(const Value& v) { return v.is_integral() && v.kind() != Kind::kBool; }
bool is_float(const Value& v) { return v.kind() == Kind::kFloat; }
bool is_number(const Value& v) { return v.is_number(); }
bool is_string(const Value& v) { return v.is_text(); }
bool is_mapping(const Value& v) { return v.is_dict(); }
bool is_lower_text(const Value& v) { return all_cased(to_text(v), is_lower); }
bool is_upper_text(const Value& v) { return all_cased(to_text(v), is_upper); }
bool is_escaped(const Value& v) { return v.is_markup(); }
bool is_iterable(const Value& v) { return v.kind() == Kind::kLoop || iterate(v) != nullptr; }

bool is_sequence(const Value& v) { return length_of(v).has_value() && v.kind() != Kind::kView; }

bool is_callable(const Value& v) {
  return v.is_undefined() || (v.object() != nullptr && v.object()->callable());
}

bool is_filter(const Value& v) {
  hash_of(v);
  return v.is_text() && find_filter(v.as_string()) != nullptr;
}

bool is_test(const Value& v) {
  hash_of(v);
  return v.is_text() && find_test(v.as_string()) != nullptr;
}

bool divisibleby(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("divisibleby", std::move(arguments), {"num"}, 1);
  return remainder_is(input, *bound.get(0), 0);
}

bool sameas(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("sameas", std::move(arguments), {"other"}, 1);
  return identical(input, *bound.get(0));
}

bool in(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("in", std::move(arguments), {"seq"}, 1);
  return contains(*bound.get(0), input);
}

enum class Relation : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual
};

template <Relation relation>
bool compare(Interpreter&, const Value& a, Arguments arguments) {
  const Bound bound("compare", std::move(arguments), {"other"}, 1);
  const Value& b = *bound.get(0);
  switch (relation) {
    case Relation::kEqual:
      return equal(a, b);
    case Relation::kNotEqual:
      return !equal(a, b);
    case Relation::kLess:
      return less(a, b, "<");
    case Relation::kLessEqual:
      return less(a, b, "<=") || equal(a, b);
    case Relation::kGreater:
      return less(b, a, ">");
    case Relation::kGreaterEqual:
      return less(b, a, ">=") || equal(a, b);
  }
  return false;
}

struct Test {
  std::string_view name;
  TestFunction function;
};

constexpr Test kTests[] = {
    {"odd", simple<is_odd>},
    {"even", simple<is_even>},
    {"divisibleby", divisibleby},
    {"defined", simple<is_defined>},
    {"undefined", simple<is_undefined>},
    {"filter", simple<is_filter>},
    {"test", simple<is_test>},
    {"none", simple<is_none>},
    {"boolean", simple<is_boolean>},
    {"false", simple<is_false>},
    {"true", simple<is_true>},
    {"integer", simple<is_integer>},
    {"float", simple<is_float>},
    {"lower", simple<is_lower_text>},
    {"upper", simple<is_upper_text>},
    {"string", simple<is_string>},
    {"mapping", simple<is_mapping>},
    {"number", simple<is_number>},
    {"sequence", simple<is_sequence>},
    {"iterable", simple<is_iterable>},
    {"callable", simple<is_callable>},
    {"sameas", sameas},
    {"escaped", simple<is_escaped>},
    {"in", in},
    {"==", compare<Relation::kEqual>},
    {"eq", compare<Relation::kEqual>},
    {"equalto", compare<Relation::kEqual>},
    {"!=", compare<Relation::kNotEqual>},
    {"ne", compare<Relation::kNotEqual>},
    {">", compare<Relation::kGreater>},
    {"gt", compare<Relation::kGreater>},
    {"greaterthan", compare<Relation::kGreater>},
    {"ge", compare<Relation::kGreaterEqual>},
    {">=", compare<Relation::kGreaterEqual>},
    {"<", compare<Relation::kLess>},
    {"lt", compare<Relation::kLess>},
    {"lessthan", compare<Relation::kLess>},
    {"<=", compare<Relation::kLessEqual>},
    {"le", compare<Relation::kLessEqual>},
};

}  // namespace

TestFunction find_test(std::string_view name) {
  for (const Test& test : kTests) {
    if (test.name == name) return test.function;
  }
  return nullptr;
}

}  // namespace quire::jinja
