// SPDX-License-Identifier: Apache-2.0
// map, select, reject and their attribute forms: lazy, and true even when they come to nothing.
#include <algorithm>

#include "text/jinja/filters.h"

namespace quire::jinja {
namespace {

using Function = std::function<Value(const Value&)>;

// A filter or test by the name in the arguments' front, which is taken off.
std::string take_name(Arguments& arguments, std::string_view what) {
  const Value name = std::move(arguments.positional.front());
  arguments.positional.erase(arguments.positional.begin());
  if (name.is_text()) return name.as_string();
  std::string message = "no " + std::string(what) + " named " + to_repr(name);
  if (const auto* story = name.get<UndefinedObject>()) message += " (" + story->hint + ")";
  fail(FailureKind::kRuntime, message);
}

Function mapping(Interpreter& interpreter, Arguments arguments) {
  auto& keywords = arguments.keywords;
  const auto attribute = std::find_if(keywords.begin(), keywords.end(),
                                      [](const auto& k) { return k.first == "attribute"; });
  if (arguments.positional.empty() && attribute != keywords.end()) {
    const Value path = attribute->second;
    keywords.erase(attribute);
    Value fallback = Value::none();
    for (const auto& [key, value] : keywords) {
      if (key != "default") type_error("Unexpected keyword argument '" + key + "'");
      fallback = value;
    }
    return [getter = AttributePath(interpreter, path), fallback](const Value& item) {
      return getter.get(item, fallback);
    };
  }
  if (arguments.positional.empty()) type_error("map requires a filter argument");
  const std::string name = take_name(arguments, "filter");
  return [&interpreter, name, arguments](const Value& item) {
    return interpreter.filter(name, item, arguments);
  };
}

// Whether an item, or an attribute of it, passes a test, or is true where none is named.
Function condition(Interpreter& interpreter, Arguments arguments, bool of_attribute) {
  Value path = Value::none();
  if (of_attribute) {
    if (arguments.positional.empty()) type_error("Missing parameter for attribute name");
    path = arguments.positional.front();
    arguments.positional.erase(arguments.positional.begin());
  }
  const AttributePath getter(interpreter, path);
  if (arguments.positional.empty()) {
    return [getter](const Value& item) { return Value::boolean(truthy(getter.get(item))); };
  }
  const std::string name = take_name(arguments, "test");
  return [&interpreter, getter, name, arguments](const Value& item) {
    return Value::boolean(interpreter.test(name, getter.get(item), arguments));
  };
}

// The arguments are looked at when the first item is asked for, as in a Python generator.
struct Lazy {
  Function function;
  Source items;
};

Value map(Interpreter& interpreter, const Value& input, Arguments arguments) {
  auto state = std::make_shared<Lazy>();
  return generator([state, &interpreter, input, arguments]() -> std::optional<Value> {
    if (!state->items.opened()) {
      if (!truthy(input)) return std::nullopt;
      state->function = mapping(interpreter, arguments);
      state->items.open(input);
    }
    const auto item = state->items.next();
    if (!item) return std::nullopt;
    return state->function(*item);
  });
}

template <bool wanted, bool of_attribute>
Value select(Interpreter& interpreter, const Value& input, Arguments arguments) {
  auto state = std::make_shared<Lazy>();
  return generator([state, &interpreter, input, arguments]() -> std::optional<Value> {
    if (!state->items.opened()) {
      if (!truthy(input)) return std::nullopt;
      state->function = condition(interpreter, arguments, of_attribute);
      state->items.open(input);
    }
    while (auto item = state->items.next()) {
      charge_steps(1);
      if (truthy(state->function(*item)) == wanted) return item;
    }
    return std::nullopt;
  });
}

constexpr Filter kFilters[] = {
    {"map", map},
    {"select", select<true, false>},
    {"reject", select<false, false>},
    {"selectattr", select<true, true>},
    {"rejectattr", select<false, true>},
};

}  // namespace

FilterFunction find_map_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
