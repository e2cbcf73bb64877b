// SPDX-License-Identifier: Apache-2.0
// Yes-or-no methods of str, and the methods of lists, tuples, dicts, ranges and numbers.
#include <algorithm>
#include <cmath>

#include "text/jinja/arguments.h"
#include "text/jinja/bytes.h"
#include "text/jinja/methods.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

using Property = bool (*)(char32_t);

bool is_alnum(char32_t c) { return is_alpha(c) || is_numeric(c); }
bool is_ascii(char32_t c) { return c < 0x80; }

// All code points have the property; an empty text counts where `empty`.
template <Property property, bool empty>
Value all_are(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("method", std::move(arguments), {});
  const std::string& text = self.as_string();
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  bool all = empty || !text.empty();
  for (std::size_t at = 0; at < text.size() && all;) all = property(next_code_point(text, at));
  return Value::boolean(all);
}

// Something is cased, and all that is cased has the property.
template <Property property>
Value cased_are(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("method", std::move(arguments), {});
  return Value::boolean(all_cased(self.as_string(), property));
}

Value is_title_text(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("istitle", std::move(arguments), {});
  const std::string& text = self.as_string();
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  bool any = false;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (is_upper(c) || is_title(c)) {
      if (inside) return Value::boolean(false);
      any = inside = true;
    } else if (is_lower(c)) {
      if (!inside) return Value::boolean(false);
      any = true;
    } else {
      inside = false;
    }
  }
  return Value::boolean(any);
}

Value is_identifier(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("isidentifier", std::move(arguments), {});
  const std::string& text = self.as_string();
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  bool all = !text.empty();
  for (std::size_t at = 0; at < text.size() && all;) {
    all = at == 0 ? is_identifier_start(next_code_point(text, at))
                  : is_identifier_part(next_code_point(text, at));
  }
  return Value::boolean(all);
}

Value count_item(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("count", std::move(arguments), {"value"}, 1);
  std::int64_t count = 0;
  for (const Value& item : to_list(self)) {
    charge_steps(1);
    if (identical(item, *bound.get(0)) || equal(item, *bound.get(0))) ++count;
  }
  return Value::integer(count);
}

Value index_item(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("index", std::move(arguments), {"value", "start", "stop"}, 1);
  const List items = to_list(self);
  const auto size = static_cast<std::int64_t>(items.size());
  const auto place = [size](std::int64_t at) {
    return at < 0 ? std::max<std::int64_t>(at + size, 0) : at;
  };
  const std::int64_t stop = std::min(place(bound.integer(2, size)), size);
  for (std::int64_t i = place(bound.integer(1, 0)); i < stop; ++i) {
    charge_steps(1);
    const Value& item = items[static_cast<std::size_t>(i)];
    if (identical(item, *bound.get(0)) || equal(item, *bound.get(0))) return Value::integer(i);
  }
  value_error(to_repr(*bound.get(0)) + " is not in the list");
}

Value copy_value(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("copy", std::move(arguments), {});
  return self;
}

template <ViewObject::Of of>
Value view_of(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("items", std::move(arguments), {});
  return {Kind::kView, std::make_shared<ViewObject>(self, of)};
}

Value get_item(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("get", std::move(arguments), {"key", "default"}, 1);
  const Value* found = self.as_dict().find(*bound.get(0));
  return found != nullptr ? *found : bound.or_else(1, Value::none());
}

Value bit_length(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("bit_length", std::move(arguments), {});
  const BigInt big = self.kind() == Kind::kBigInt ? self.as_big() : BigInt(self.as_int());
  return Value::integer(static_cast<std::int64_t>(big.bit_length()));
}

Value is_integer(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("is_integer", std::move(arguments), {});
  return Value::boolean(std::isfinite(self.as_float()) &&
                        self.as_float() == std::trunc(self.as_float()));
}

constexpr Method kTextTests[] = {
    {"isspace", all_are<is_space, false>},
    {"isalpha", all_are<is_alpha, false>},
    {"isdigit", all_are<is_digit, false>},
    {"isdecimal", all_are<is_decimal, false>},
    {"isnumeric", all_are<is_numeric, false>},
    {"isalnum", all_are<is_alnum, false>},
    {"isascii", all_are<is_ascii, true>},
    {"isprintable", all_are<is_printable, true>},
    {"isupper", cased_are<is_upper>},
    {"islower", cased_are<is_lower>},
    {"istitle", is_title_text},
    {"isidentifier", is_identifier},
};

constexpr Method kDictMethods[] = {
    {"items", view_of<ViewObject::Of::kItems>},
    {"keys", view_of<ViewObject::Of::kKeys>},
    {"values", view_of<ViewObject::Of::kValues>},
    {"get", get_item},
    {"copy", copy_value},
    {"fromkeys", dict_fromkeys},
};

constexpr Method kListMethods[] = {
    {"index", index_item}, {"count", count_item}, {"copy", copy_value}};
constexpr Method kTupleMethods[] = {{"index", index_item}, {"count", count_item}};
constexpr Method kIntMethods[] = {{"bit_length", bit_length}, {"conjugate", copy_value}};
constexpr Method kFloatMethods[] = {{"is_integer", is_integer}, {"conjugate", copy_value}};

constexpr std::string_view kListChanges[] = {"append", "clear", "pop",    "reverse",
                                             "insert", "sort",  "extend", "remove"};
constexpr std::string_view kDictChanges[] = {"clear", "pop", "popitem", "setdefault", "update"};

template <std::size_t N>
const Method* find_in(const Method (&methods)[N], std::string_view name) {
  const auto* found = std::find_if(std::begin(methods), std::end(methods),
                                   [name](const Method& m) { return m.name == name; });
  return found == std::end(methods) ? nullptr : found;
}

}  // namespace

Value dict_fromkeys(Interpreter&, const Value&, Arguments arguments) {
  const Bound bound("fromkeys", std::move(arguments), {"iterable", "value"}, 1);
  auto dict = make_dict();
  for (const Value& key : to_list(*bound.get(0))) dict->set(key, bound.or_else(1, Value::none()));
  return dict_value(std::move(dict));
}

bool all_cased(std::string_view text, bool (*property)(char32_t)) {
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  bool any = false;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (!is_cased(c)) continue;
    if (!property(c)) return false;
    any = true;
  }
  return any;
}

const Method* find_method(const Value& self, std::string_view name) {
  switch (self.kind()) {
    case Kind::kText: {
      const Method* method = self.is_markup() ? find_markup_method(name) : nullptr;
      if (method == nullptr) method = find_text_method(name);
      return method != nullptr ? method : find_in(kTextTests, name);
    }
    case Kind::kBytes:
      return find_bytes_method(name);
    case Kind::kList:
      return find_in(kListMethods, name);
    case Kind::kTuple:
    case Kind::kRange:
      return find_in(kTupleMethods, name);
    case Kind::kDict:
      return find_in(kDictMethods, name);
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kBigInt:
      return find_in(kIntMethods, name);
    case Kind::kFloat:
      return find_in(kFloatMethods, name);
    default:
      return nullptr;
  }
}

bool changes_value(const Value& self, std::string_view name) {
  if (self.kind() == Kind::kList) {
    return std::find(std::begin(kListChanges), std::end(kListChanges), name) !=
           std::end(kListChanges);
  }
  if (self.kind() == Kind::kDict) {
    return std::find(std::begin(kDictChanges), std::end(kDictChanges), name) !=
           std::end(kDictChanges);
  }
  return false;
}

}  // namespace quire::jinja
