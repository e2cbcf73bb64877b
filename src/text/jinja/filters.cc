// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/filters.h"

#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

// A step of a path: a number where it is all digits. Throws Failure kValue as Python's int() does.
Value path_step(const std::string& step) {
  const bool number = !step.empty() && step.find_first_not_of("0123456789") == std::string::npos;
  if (!number) return Value::text(step);
  if (step.size() > BigInt::kMaxDigits) {
    value_error("Exceeds the limit (" + std::to_string(BigInt::kMaxDigits) +
                " digits) for integer string conversion: value has " + std::to_string(step.size()) +
                " digits");
  }
  return Value::integer(*BigInt::parse(step));
}

}  // namespace

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

std::optional<Value> Generator::next() {
  const Nested nested(8);
  charge_steps(1);
  if (running_) value_error("generator already executing");
  if (next_ == nullptr) return std::nullopt;
  running_ = true;
  auto item = next_();
  running_ = false;
  if (!item) next_ = nullptr;
  return item;
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
    charge_steps(1);
    steps_.push_back(path_step(text.substr(begin, end - begin)));
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
