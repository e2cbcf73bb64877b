// SPDX-License-Identifier: Apache-2.0
// Filters that order, group and add up.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/operators.h"

namespace quire::jinja {
namespace {

struct Keyed {
  Value key;
  Value item;
};

// Stable, also in reverse.
void sort_keyed(std::vector<Keyed>& entries, bool reverse) {
  charge_steps(static_cast<std::int64_t>(entries.size()));
  std::stable_sort(entries.begin(), entries.end(), [reverse](const Keyed& a, const Keyed& b) {
    charge_steps(1);
    return reverse ? less(b.key, a.key) : less(a.key, b.key);
  });
}

List items_of(std::vector<Keyed> entries) {
  List items;
  items.reserve(entries.size());
  for (Keyed& entry : entries) items.push_back(std::move(entry.item));
  return items;
}

Value sort(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("sort", std::move(arguments), {"reverse", "case_sensitive", "attribute"});
  const bool as_is = bound.flag(1);
  // Several attributes with commas between them are compared one after another.
  std::vector<AttributePath> paths;
  const Value attribute = bound.or_else(2, Value::none());
  if (attribute.is_text()) {
    const std::string& text = attribute.as_string();
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      paths.emplace_back(interpreter, Value::text(text.substr(begin, end - begin)));
      begin = end + 1;
    }
  } else {
    paths.emplace_back(interpreter, attribute);
  }
  std::vector<Keyed> entries;
  for (const Value& item : to_list(input)) {
    List key;
    for (const AttributePath& path : paths) {
      const Value part = path.get(item);
      key.push_back(as_is ? part : ignore_case(part));
    }
    entries.push_back({Value::list(std::move(key)), item});
  }
  sort_keyed(entries, bound.flag(0));
  return Value::list(items_of(std::move(entries)));
}

Value dictsort(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("dictsort", std::move(arguments), {"case_sensitive", "by", "reverse"});
  const std::string by = to_text(bound.or_else(1, Value::text("key")));
  if (by != "key" && by != "value") value_error("You can only sort by either \"key\" or \"value\"");
  if (!input.is_dict()) {
    return interpreter.call(interpreter.attribute(input, "items"), {});
  }
  std::vector<Keyed> entries;
  for (const auto& [key, value] : input.as_dict().items) {
    const Value& chosen = by == "key" ? key : value;
    entries.push_back({bound.flag(0) ? chosen : ignore_case(chosen), Value::tuple({key, value})});
  }
  sort_keyed(entries, bound.flag(2));
  return Value::list(items_of(std::move(entries)));
}

Value unique(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("unique", std::move(arguments), {"case_sensitive", "attribute"});
  struct State {
    State(AttributePath p, bool case_sensitive) : path(std::move(p)), as_is(case_sensitive) {}
    AttributePath path;
    bool as_is;
    Source items;
    DictObject seen;
  };
  auto state = std::make_shared<State>(AttributePath(interpreter, bound.or_else(1, Value::none())),
                                       bound.flag(0));
  return generator([state, input]() -> std::optional<Value> {
    if (!state->items.opened()) state->items.open(input);
    while (auto item = state->items.next()) {
      charge_steps(1);
      Value key = state->path.get(*item);
      if (!state->as_is) key = ignore_case(key);
      if (state->seen.find(key) != nullptr) continue;
      state->seen.set(key, Value::none());
      return item;
    }
    return std::nullopt;
  });
}

template <bool greatest>
Value extreme(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("min", std::move(arguments), {"case_sensitive", "attribute"});
  const AttributePath path(interpreter, bound.or_else(1, Value::none()));
  const auto items = must_iterate(input);
  std::optional<Keyed> best;
  while (auto item = items->next()) {
    charge_steps(1);
    Value key = path.get(*item);
    if (!bound.flag(0)) key = ignore_case(key);
    const bool better = !best || (greatest ? less(best->key, key, ">") : less(key, best->key, "<"));
    if (better) best = Keyed{std::move(key), std::move(*item)};
  }
  return best ? best->item : Value::undefined("No aggregated item, sequence was empty.");
}

Value sum(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("sum", std::move(arguments), {"attribute", "start"});
  const AttributePath path(interpreter, bound.or_else(0, Value::none()));
  Value total = bound.or_else(1, Value::integer(0));
  if (total.is_text()) type_error("sum() can't sum strings [use ''.join(seq) instead]");
  const auto items = must_iterate(input);
  while (const auto item = items->next()) {
    charge_steps(1);
    total = binary(BinaryOp::kAdd, total, path.get(*item));
  }
  return total;
}

Value group_of(const Value& grouper, List items) {
  auto pair = std::make_shared<ListObject>(List{grouper, Value::list(std::move(items))});
  pair->names = {"grouper", "list"};
  return {Kind::kTuple, std::move(pair)};
}

Value groupby(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("groupby", std::move(arguments), {"attribute", "default", "case_sensitive"}, 1);
  const AttributePath path(interpreter, *bound.get(0));
  const Value fallback = bound.or_else(1, Value::none());
  std::vector<Keyed> entries;
  for (const Value& item : to_list(input)) {
    const Value key = path.get(item, fallback);
    entries.push_back({bound.flag(2) ? key : ignore_case(key), item});
  }
  sort_keyed(entries, false);
  List groups;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin;
    List items;
    for (; end < entries.size() && equal(entries[end].key, entries[begin].key); ++end) {
      charge_steps(1);
      items.push_back(entries[end].item);
    }
    const Value grouper = path.get(entries[begin].item, fallback);
    groups.push_back(group_of(grouper, std::move(items)));
    begin = std::max(end, begin + 1);
  }
  return Value::list(std::move(groups));
}

constexpr Filter kFilters[] = {
    {"sort", sort},         {"dictsort", dictsort}, {"unique", unique},   {"min", extreme<false>},
    {"max", extreme<true>}, {"sum", sum},           {"groupby", groupby},
};

}  // namespace

FilterFunction find_order_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
