// SPDX-License-Identifier: Apache-2.0
// value.name and value[key], as the sandbox resolves them.
#include <algorithm>

#include "text/jinja/bytes.h"
#include "text/jinja/interpreter.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

bool is_internal(std::string_view name) {
  return name.size() > 4 && name.starts_with("__") && name.ends_with("__");
}

Value unsafe(const Value& object, std::string_view name) {
  return Value::undefined("access to attribute '" + std::string(name) + "' of '" +
                              type_name(object) + "' object is unsafe",
                          FailureKind::kSecurity);
}

Value missing(const Value& object, const Value& name) {
  const std::string type = object.is_none() ? "None" : type_name(object) + " object";
  if (name.is_text()) {
    return Value::undefined("'" + type + "' has no attribute " + to_repr(name));
  }
  return Value::undefined(type + " has no element " + to_repr(name));
}

std::optional<Value> number_attribute(const Value& object, std::string_view name) {
  if (name == "real" || (name == "numerator" && object.is_integral())) {
    return object.kind() == Kind::kBool ? Value::integer(object.as_int()) : object;
  }
  if (name == "imag") {
    return object.is_integral() ? Value::integer(0) : Value::number(0);
  }
  if (name == "denominator" && object.is_integral()) return Value::integer(1);
  return std::nullopt;
}

// getattr(object, name), before the sandbox has a say.
std::optional<Value> python_attribute(const Value& object, std::string_view name) {
  if (object.is_number()) {
    if (auto value = number_attribute(object, name)) return value;
  }
  if (const Method* method = find_method(object, name)) {
    return Value(Kind::kFunction,
                 std::make_shared<FunctionObject>(std::string(method->name), method->body, object,
                                                  method->by_name));
  }
  if (object.object() != nullptr) return object.object()->attribute(name);
  return std::nullopt;
}

std::optional<Value> safe_attribute(const Value& object, std::string_view name) {
  if (is_internal(name) && object.kind() != Kind::kNamespace) return unsafe(object, name);
  if (changes_value(object, name)) return unsafe(object, name);
  return python_attribute(object, name);
}

// object[key], with nothing where Python raises a TypeError or LookupError.
std::optional<Value> python_item(const Value& object, const Value& key) {
  switch (object.kind()) {
    case Kind::kUndefined:
      fail_undefined(object);
    case Kind::kDict: {
      const Value* found = object.as_dict().find(key);
      return found == nullptr ? std::nullopt : std::optional<Value>(*found);
    }
    case Kind::kText:
    case Kind::kBytes:
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kRange:
      break;
    default:
      return std::nullopt;
  }
  auto index = as_index(key);
  const std::int64_t size = *length_of(object);
  if (!index) return std::nullopt;
  if (*index < 0) *index += size;
  if (*index < 0 || *index >= size) return std::nullopt;
  const auto at = static_cast<std::size_t>(*index);
  if (object.is_sequence()) return object.as_list()[at];
  if (object.kind() == Kind::kBytes) {
    return Value::integer(static_cast<unsigned char>(bytes_of(object)[at]));
  }
  if (object.kind() == Kind::kRange) {
    const auto* range = object.get<RangeObject>();
    return Value::integer(range->item(*index));
  }
  const TextObject& text = object.as_text();
  std::size_t begin = at;
  if (!text.ascii()) {
    charge_steps(static_cast<std::int64_t>(text.bytes.size() / 64));
    begin = byte_offset(text.bytes, at);
  }
  std::size_t end = begin;
  next_code_point(text.bytes, end);
  return text_like(object, text.bytes.substr(begin, end - begin));
}

bool hashable(const Value& value) {
  if (value.kind() == Kind::kTuple) {
    return std::all_of(value.as_list().begin(), value.as_list().end(), hashable);
  }
  return value.kind() != Kind::kList && value.kind() != Kind::kDict && value.kind() != Kind::kView;
}

}  // namespace

Value Interpreter::attribute(const Value& object, std::string_view name) {
  if (object.is_undefined()) fail_undefined(object);
  if (auto value = safe_attribute(object, name)) return std::move(*value);
  if (object.is_dict()) {
    if (const Value* found = object.as_dict().find(name)) return *found;
  }
  return missing(object, Value::text(std::string(name)));
}

Value Interpreter::item(const Value& object, const Value& key) {
  if (object.is_undefined()) fail_undefined(object);
  if (hashable(key)) {
    if (auto value = python_item(object, key)) return std::move(*value);
  }
  if (key.is_text()) {
    if (auto value = safe_attribute(object, key.as_string())) return std::move(*value);
  }
  return missing(object, key);
}

}  // namespace quire::jinja
