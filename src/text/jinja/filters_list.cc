// SPDX-License-Identifier: Apache-2.0
// Filters on sequences, order apart.
#include <algorithm>
#include <random>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"

namespace quire::jinja {
namespace {

Value length(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("len", std::move(arguments), {});
  const auto size = length_of(input);
  if (size) return Value::integer(*size);
  if (input.kind() == Kind::kLoop) return *input.object()->attribute("length");
  type_error("object of type '" + type_name(input) + "' has no len()");
}

Value default_filter(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("default", std::move(arguments), {"default_value", "boolean"});
  if (input.is_undefined() || (bound.flag(1) && !truthy(input))) {
    return bound.or_else(0, Value::text(""));
  }
  return input;
}

Value list(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("list", std::move(arguments), {});
  return Value::list(to_list(input));
}

Value first(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("first", std::move(arguments), {});
  const auto item = must_iterate(input)->next();
  return item ? *item : Value::undefined("No first item, sequence was empty.");
}

// What Python's reversed() takes: values with an order of their own, not what runs out.
bool reversible(const Value& value) { return length_of(value).has_value(); }

Value last(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("last", std::move(arguments), {});
  if (!reversible(input)) type_error("'" + type_name(input) + "' object is not reversible");
  const auto size = *length_of(input);
  if (size == 0) return Value::undefined("No last item, sequence was empty.");
  if (input.is_text()) {
    return text_like(Value(),
                     slice(input, Value::integer(-1), Value::none(), Value::none()).as_string());
  }
  return to_list(input).back();
}

Value reverse(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("reverse", std::move(arguments), {});
  if (input.is_text()) {
    return slice(input, Value::none(), Value::none(), Value::integer(-1));
  }
  if (iterate(input) == nullptr) type_error("argument must be iterable");
  List items = to_list(input);
  std::reverse(items.begin(), items.end());
  return reversible(input) ? iterator_over(std::move(items)) : Value::list(std::move(items));
}

Value random(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("random", std::move(arguments), {});
  const auto size = length_of(input);
  if (!size) type_error("object of type '" + type_name(input) + "' has no len()");
  if (*size == 0) return Value::undefined("No random item, sequence was empty.");
  thread_local std::mt19937_64 generator{std::random_device{}()};
  std::uniform_int_distribution<std::int64_t> pick(0, *size - 1);
  return to_list(input)[static_cast<std::size_t>(pick(generator))];
}

Value join(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("join", std::move(arguments), {"d", "attribute"});
  const Value separator = bound.or_else(0, Value::text(""));
  const AttributePath path(interpreter, bound.or_else(1, Value::none()));
  const auto items = must_iterate(input);
  List parts;
  bool markup = separator.is_markup();
  while (const auto item = items->next()) {
    charge_steps(1);
    check_size(parts.size() + 1, sizeof(Value));
    parts.push_back(path.get(*item));
    markup = markup || parts.back().is_markup();
  }
  markup = markup && interpreter.autoescape();
  const auto text = [markup](const Value& v) {
    return markup ? escape(v).as_string() : to_text(v);
  };
  const std::string between = text(separator);
  std::string out;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string part = text(parts[i]);
    check_size(out.size() + between.size() + part.size(), 1);
    if (i > 0) out += between;
    out += part;
  }
  return Value::text(std::move(out), markup);
}

Value batch(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("batch", std::move(arguments), {"linecount", "fill_with"}, 1);
  const Value fill = bound.or_else(1, Value::none());
  const Value count = *bound.get(0);
  struct State {
    Source items;
    List row;
  };
  auto state = std::make_shared<State>();
  return generator([state, input, fill, count]() -> std::optional<Value> {
    if (!state->items.opened()) state->items.open(input);
    const auto full = [&] {
      return equal(Value::integer(static_cast<std::int64_t>(state->row.size())), count);
    };
    while (auto item = state->items.next()) {
      charge_steps(1);
      if (full()) {
        List row = std::move(state->row);
        state->row = {std::move(*item)};
        return Value::list(std::move(row));
      }
      check_size(state->row.size() + 1, sizeof(Value));
      state->row.push_back(std::move(*item));
    }
    if (state->row.empty()) return std::nullopt;
    const auto size = static_cast<std::int64_t>(state->row.size());
    if (!fill.is_none() && less(Value::integer(size), count)) {
      const std::int64_t missing = as_index(count).value_or(size) - size;
      check_size(static_cast<std::size_t>(missing), sizeof(Value));
      for (std::int64_t i = 0; i < missing; ++i) state->row.push_back(fill);
    }
    List row = std::move(state->row);
    state->row.clear();
    return Value::list(std::move(row));
  });
}

Value slice_filter(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("slice", std::move(arguments), {"slices", "fill_with"}, 1);
  const Value fill = bound.or_else(1, Value::none());
  const std::int64_t slices = bound.integer(0, 1);
  struct State {
    std::optional<List> items;
    std::int64_t number = 0;
    std::int64_t at = 0;
  };
  auto state = std::make_shared<State>();
  return generator([state, input, fill, slices]() -> std::optional<Value> {
    if (!state->items) state->items = to_list(input);
    if (slices == 0) value_error("integer division or modulo by zero");
    if (state->number >= slices) return std::nullopt;
    const auto size = static_cast<std::int64_t>(state->items->size());
    const bool extra = state->number++ < size % slices;
    const std::int64_t count = size / slices + (extra ? 1 : 0);
    const auto begin = state->items->begin() + state->at;
    List row(begin, begin + count);
    state->at += count;
    if (!fill.is_none() && !extra) row.push_back(fill);
    return Value::list(std::move(row));
  });
}

Value items(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("items", std::move(arguments), {});
  auto state = std::make_shared<std::shared_ptr<IteratorObject>>();
  return generator([state, input]() -> std::optional<Value> {
    if (*state == nullptr) {
      if (input.is_undefined()) return std::nullopt;
      if (!input.is_dict()) type_error("Can only get item pairs from a mapping.");
      *state =
          iterate(Value(Kind::kView, std::make_shared<ViewObject>(input, ViewObject::Of::kItems)));
    }
    return (*state)->next();
  });
}

Value attr(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("attr", std::move(arguments), {"name"}, 1);
  const std::string& name = bound.text(0);
  // Items are not attributes, also where the dict has one of that name.
  if (input.is_dict() && input.as_dict().find(name) != nullptr) {
    return interpreter.attribute(dict_value(make_dict()), name);
  }
  return interpreter.attribute(input, name);
}

constexpr Filter kFilters[] = {
    {"length", length},    {"count", length},    {"default", default_filter},
    {"d", default_filter}, {"list", list},       {"first", first},
    {"last", last},        {"reverse", reverse}, {"random", random},
    {"join", join},        {"batch", batch},     {"slice", slice_filter},
    {"items", items},      {"attr", attr},
};

}  // namespace

FilterFunction find_list_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
