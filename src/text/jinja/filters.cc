// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/filters.h"

#include "text/jinja/unicode.h"

namespace quire::jinja {

FilterFunction find_filter(std::string_view name) {
  using Find = FilterFunction (*)(std::string_view);
  static constexpr Find kTables[] = {find_text_filter,  find_html_filter,  find_number_filter,
                                     find_list_filter,  find_order_filter, find_map_filter,
                                     find_pretty_filter};
  for (const Find find : kTables) {
    if (const FilterFunction function = find(name)) return function;
  }
  return nullptr;
}

Value generator(Generator::Next next) {
  return {Kind::kIterator, std::make_shared<Generator>(std::move(next))};
}

Value iterator_over(List items) {
  return {Kind::kIterator, iterate(Value::list(std::move(items)))};
}

AttributePath::AttributePath(Interpreter& interpreter, const Value& path)
    : interpreter_(interpreter) {
  if (path.is_none()) return;
  if (!path.is_text()) {
    steps_.push_back(path);
    return;
  }
  const std::string& text = path.as_string();
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('.', begin), text.size());
    const std::string step = text.substr(begin, end - begin);
    const auto number = BigInt::parse(step);
    steps_.push_back(number ? Value::integer(*number) : Value::text(step));
    begin = end + 1;
  }
}

Value AttributePath::get(const Value& item, const Value& fallback) const {
  Value value = item;
  for (const Value& step : steps_) {
    value = interpreter_.item(value, step);
    if (value.is_undefined() && !fallback.is_none()) value = fallback;
  }
  return value;
}

Value ignore_case(const Value& value) {
  return value.is_text() ? text_like(value, to_lower(value.as_string())) : value;
}

Value soft_text(const Value& value) {
  return value.is_text() ? value : Value::text(to_text(value));
}

}  // namespace quire::jinja
