// SPDX-License-Identifier: Apache-2.0
// str.translate and the tables it takes.
#include "text/jinja/arguments.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

Value code_point_of(const Value& character) {
  if (!character.is_text()) return character;
  if (character.as_text().length != 1) {
    value_error("string keys in translate table must be of length 1");
  }
  std::size_t at = 0;
  return Value::integer(next_code_point(character.as_string(), at));
}

void put_characters(DictObject& table, const Bound& bound) {
  const std::string& from = bound.text(0);
  const std::string& to = bound.text(1);
  if (count_code_points(from) != count_code_points(to)) {
    value_error("the first two maketrans arguments must have equal length");
  }
  for (std::size_t i = 0, j = 0; i < from.size();) {
    const Value key = Value::integer(next_code_point(from, i));
    table.set(key, Value::integer(next_code_point(to, j)));
  }
  if (bound.get(2) == nullptr) return;
  const std::string& dropped = bound.text(2);
  for (std::size_t i = 0; i < dropped.size();) {
    table.set(Value::integer(next_code_point(dropped, i)), Value::none());
  }
}

void append_replacement(std::string& out, const Value& replacement) {
  if (replacement.is_none()) return;
  if (replacement.is_text()) {
    out += replacement.as_string();
    return;
  }
  const auto point = as_index(replacement);
  if (!point) type_error("character mapping must return integer, None or str");
  if (*point < 0 || *point > 0x10FFFF) value_error("character mapping must be in range(0x110000)");
  append_utf8(out, static_cast<char32_t>(*point));
}

}  // namespace

Value translate_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("translate", std::move(arguments), {"table"}, 1);
  const Value& table = *bound.get(0);
  if (!table.is_dict()) type_error("translate() wants a dict, not " + type_name(table));
  std::string out;
  const std::string& text = self.as_string();
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    charge_steps(1);
    const Value* replacement = table.as_dict().find(Value::integer(c));
    if (replacement == nullptr) {
      append_utf8(out, c);
    } else {
      append_replacement(out, *replacement);
    }
    check_size(out.size(), 1);
  }
  return text_like(self, std::move(out));
}

Value maketrans_method(Interpreter&, const Value&, Arguments arguments) {
  const Bound bound("maketrans", std::move(arguments), {"x", "y", "z"}, 1);
  auto table = make_dict();
  if (bound.get(1) != nullptr) {
    put_characters(*table, bound);
    return dict_value(std::move(table));
  }
  const Value& given = *bound.get(0);
  if (!given.is_dict()) {
    type_error("if you give only one argument to maketrans it must be a dict");
  }
  for (const auto& [key, value] : given.as_dict().items) {
    if (!key.is_text() && !key.is_integral()) {
      type_error("keys in translate table must be strings or integers");
    }
    table->set(code_point_of(key), value);
  }
  return dict_value(std::move(table));
}

}  // namespace quire::jinja
