// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "text/jinja/arguments.h"
#include "text/jinja/interpreter.h"

// The filters, one table a source file; find_filter (filters.cc) looks through them.
namespace quire::jinja {

struct Filter {
  std::string_view name;
  FilterFunction function;
};

// nullptr when the table has none of that name.
FilterFunction find_text_filter(std::string_view name);
FilterFunction find_html_filter(std::string_view name);
FilterFunction find_number_filter(std::string_view name);
FilterFunction find_list_filter(std::string_view name);
FilterFunction find_order_filter(std::string_view name);
FilterFunction find_map_filter(std::string_view name);
FilterFunction find_pretty_filter(std::string_view name);

template <std::size_t N>
FilterFunction find_in(const Filter (&filters)[N], std::string_view name) {
  for (const Filter& filter : filters) {
    if (filter.name == name) return filter.function;
  }
  return nullptr;
}

// An iterator made of a function, which goes, with all it holds, once there is nothing more.
class Generator final : public IteratorObject {
 public:
  using Next = std::function<std::optional<Value>()>;
  explicit Generator(Next next) : charge_(512), next_(std::move(next)) {}
  std::string type_name() const override { return "generator"; }
  std::optional<Value> next() override;

 private:
  Charge charge_;
  Next next_;
  bool running_ = false;
};

Value generator(Generator::Next next);
Value iterator_over(List items);

// What a generator reads from. A value, not a pointer: values of any number, each the last to hold
// the next, are destroyed without exhausting the stack.
class Source {
 public:
  bool opened() const { return !iterator_.is_undefined(); }
  // Throws Failure kType for what cannot be iterated over.
  void open(const Value& input) { iterator_ = {Kind::kIterator, must_iterate(input)}; }
  // REQUIRES: opened().
  std::optional<Value> next() { return iterator_.get<IteratorObject>()->next(); }

 private:
  Value iterator_;
};

// The value that an attribute path ("a.b.0", a number, none for the item itself) leads to.
class AttributePath {
 public:
  AttributePath(Interpreter& interpreter, const Value& path);
  // Where a step leads nowhere and `fallback` is not none, it takes the place.
  Value get(const Value& item, const Value& fallback = Value::none()) const;

 private:
  Interpreter& interpreter_;
  std::vector<Value> steps_;
};

// Texts in lower case; everything else as it is.
Value ignore_case(const Value& value);

// A text as it is, anything else printed.
Value soft_text(const Value& value);

// Whole numbers and floats spelled in a text, as Python's int() and float() read them.
std::optional<BigInt> parse_integer(std::string_view text, std::int64_t base);
std::optional<double> parse_float(std::string_view text);

// textwrap.wrap of one paragraph.
std::vector<std::string> wrap_text(const std::string& text, std::int64_t width,
                                   bool break_long_words, bool break_on_hyphens);

// Text with its addresses made links.
struct LinkStyle {
  std::optional<std::int64_t> trim;
  std::string rel;
  std::string target;
  std::vector<std::string> schemes;
};
std::string link_addresses(const std::string& text, const LinkStyle& style);

}  // namespace quire::jinja
