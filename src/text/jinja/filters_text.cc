// SPDX-License-Identifier: Apache-2.0
// Filters that make texts of texts.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/json.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

using Change = std::string (*)(std::string_view);

template <Change change>
Value changed(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("filter", std::move(arguments), {});
  const Value text = soft_text(input);
  return text_like(text, change(text.as_string()));
}

bool begins_words(char32_t c) {
  return c == '-' || c == '(' || c == '{' || c == '[' || c == '<' || is_space(c);
}

// Words begin after white space, hyphens and opening brackets; apostrophes do not end them.
Value title(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("title", std::move(arguments), {});
  const Value text = soft_text(input);
  const std::string& s = text.as_string();
  std::string out;
  for (std::size_t at = 0; at < s.size();) {
    const std::size_t begin = at;
    const bool separator = begins_words(next_code_point(s, at));
    const std::size_t second = at;
    for (std::size_t after = at; after < s.size(); at = after) {
      if (begins_words(next_code_point(s, after)) != separator) break;
    }
    out += to_upper(std::string_view(s).substr(begin, second - begin));
    out += to_lower(std::string_view(s).substr(second, at - second));
  }
  return Value::text(std::move(out));
}

Value trim(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("trim", std::move(arguments), {"chars"});
  const Value text = soft_text(input);
  const Value* characters = bound.get(0);
  if (characters == nullptr || characters->is_none()) {
    return text_like(text, strip(text.as_string(), nullptr, true, true));
  }
  return text_like(text, strip(text.as_string(), &bound.text(0), true, true));
}

Value replace_filter(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("replace", std::move(arguments), {"old", "new", "count"}, 2);
  const Value* count = bound.get(2);
  const std::int64_t most = count == nullptr || count->is_none() ? -1 : bound.integer(2, -1);
  const std::string old = to_text(*bound.get(0));
  const bool markup = interpreter.autoescape() && input.is_markup();
  const std::string with = markup ? escape(*bound.get(1)).as_string() : to_text(*bound.get(1));
  return Value::text(replace(to_text(input), old, with, most), markup);
}

Value string(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("string", std::move(arguments), {});
  return soft_text(input);
}

Value indent(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("indent", std::move(arguments), {"width", "first", "blank"});
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_text()) type_error("indent needs a text, not '" + type_name(input) + "'");
  const Value width = bound.or_else(0, Value::integer(4));
  std::string indention;
  if (width.is_text()) {
    indention = width.as_string();
  } else {
    const std::int64_t count = std::max<std::int64_t>(bound.integer(0, 4), 0);
    check_size(static_cast<std::size_t>(count), 1);
    indention.assign(static_cast<std::size_t>(count), ' ');
  }
  std::string out;
  bool first_line = true;
  for (const std::string& line : split_lines(input.as_string() + "\n", false)) {
    check_size(out.size() + indention.size() + line.size() + 1, 1);
    if (!first_line) out += "\n";
    const bool indented = first_line ? bound.flag(1) : bound.flag(2) || !line.empty();
    if (indented) out += indention;
    out += line;
    first_line = false;
  }
  return text_like(input, std::move(out));
}

Value truncate(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("truncate", std::move(arguments), {"length", "killwords", "end", "leeway"});
  const std::int64_t length = bound.integer(0, 255);
  const Value end = bound.or_else(2, Value::text("..."));
  const Value* slack = bound.get(3);
  const std::int64_t leeway = slack == nullptr || slack->is_none() ? 5 : bound.integer(3, 5);
  if (!end.is_text()) type_error("truncate: end must be a text");
  const auto end_length = static_cast<std::int64_t>(end.as_text().length);
  if (length < end_length) {
    value_error("expected length >= " + std::to_string(end_length) + ", got " +
                std::to_string(length));
  }
  if (leeway < 0) value_error("expected leeway >= 0, got " + std::to_string(leeway));
  const auto size = length_of(input);
  if (!size) type_error("object of type '" + type_name(input) + "' has no len()");
  if (*size - leeway <= length) return input;
  Value kept = slice(input, Value::none(), Value::integer(length - end_length), Value::none());
  if (!kept.is_text()) type_error("truncate needs a text, not '" + type_name(input) + "'");
  if (!bound.flag(1)) {
    const std::size_t space = kept.as_string().rfind(' ');
    kept = text_like(kept, kept.as_string().substr(0, space));
  }
  return binary(BinaryOp::kAdd, kept, end);
}

Value wordwrap(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("wordwrap", std::move(arguments),
                    {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_text()) type_error("wordwrap needs a text, not '" + type_name(input) + "'");
  const Value* given = bound.get(2);
  const std::string newline = given == nullptr || given->is_none() ? "\n" : bound.text(2);
  std::string out;
  bool first = true;
  for (const std::string& paragraph : split_lines(input.as_string(), false)) {
    if (!first) out += newline;
    first = false;
    bool first_line = true;
    for (const std::string& line :
         wrap_text(paragraph, bound.integer(0, 79), truthy(bound.or_else(1, Value::boolean(true))),
                   truthy(bound.or_else(3, Value::boolean(true))))) {
      check_size(out.size() + line.size() + newline.size(), 1);
      if (!first_line) out += newline;
      first_line = false;
      out += line;
    }
  }
  return Value::text(std::move(out));
}

Value center(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("center", std::move(arguments), {"width"});
  const Value text = soft_text(input);
  return text_like(text, pad(text.as_string(), bound.integer(0, 80), " ", true, true));
}

Value wordcount(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("wordcount", std::move(arguments), {});
  const std::string text = to_text(input);
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  std::int64_t words = 0;
  bool inside = false;
  for (std::size_t at = 0; at < text.size();) {
    const bool word = is_word(next_code_point(text, at));
    if (word && !inside) ++words;
    inside = word;
  }
  return Value::integer(words);
}

Value format_filter(Interpreter&, const Value& input, Arguments arguments) {
  if (!arguments.positional.empty() && !arguments.keywords.empty()) {
    type_error("can't handle positional and keyword arguments at the same time");
  }
  if (arguments.keywords.empty()) {
    return format_percent(soft_text(input), Value::tuple(std::move(arguments.positional)));
  }
  auto named = make_dict();
  for (auto& [key, value] : arguments.keywords) named->set(Value::text(key), std::move(value));
  return format_percent(soft_text(input), dict_value(std::move(named)));
}

// transformers' tojson: not the environment's own, which escapes HTML and sorts keys.
Value tojson(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("tojson", std::move(arguments),
                    {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  style.ensure_ascii = bound.flag(0);
  style.sort_keys = bound.flag(3);
  if (const Value* width = bound.get(1); width != nullptr && !width->is_none()) {
    style.indented = true;
    style.item_separator = ",";
    if (width->is_text()) {
      style.indent = width->as_string();
    } else {
      const std::int64_t count = std::max<std::int64_t>(bound.integer(1, 0), 0);
      check_size(static_cast<std::size_t>(count), 1);
      style.indent.assign(static_cast<std::size_t>(count), ' ');
    }
  }
  if (const Value* separators = bound.get(2); separators != nullptr && !separators->is_none()) {
    const List pair = to_list(*separators);
    if (pair.size() != 2 || !pair[0].is_text() || !pair[1].is_text()) {
      value_error("separators must be two texts");
    }
    style.item_separator = pair[0].as_string();
    style.key_separator = pair[1].as_string();
  }
  return Value::text(dump_json(input, style));
}

constexpr Filter kFilters[] = {
    {"upper", changed<to_upper>},
    {"lower", changed<to_lower>},
    {"capitalize", changed<to_capitalized>},
    {"title", title},
    {"trim", trim},
    {"replace", replace_filter},
    {"string", string},
    {"indent", indent},
    {"truncate", truncate},
    {"wordwrap", wordwrap},
    {"center", center},
    {"wordcount", wordcount},
    {"format", format_filter},
    {"tojson", tojson},
};

}  // namespace

FilterFunction find_text_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
