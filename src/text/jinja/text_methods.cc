// SPDX-License-Identifier: Apache-2.0
// The methods of str that make texts or search in them.
#include <algorithm>

#include "text/jinja/arguments.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

using Change = std::string (*)(std::string_view);

template <Change change>
Value changed(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("method", std::move(arguments), {});
  return text_like(self, change(self.as_string()));
}

template <bool left, bool right>
Value strip_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("strip", std::move(arguments), {"chars"});
  const Value* characters = bound.get(0);
  if (characters == nullptr || characters->is_none()) {
    return text_like(self, strip(self.as_string(), nullptr, left, right));
  }
  if (!characters->is_text()) type_error("strip arg must be None or str");
  return text_like(self, strip(self.as_string(), &characters->as_string(), left, right));
}

// A text put into a markup one is escaped.
std::string inserted(const Value& self, const Value& text) {
  return self.is_markup() ? escape(text).as_string() : text.as_string();
}

Value replace_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("replace", std::move(arguments), {"old", "new", "count"}, 2);
  bound.text(1);
  return text_like(self, replace(self.as_string(), bound.text(0), inserted(self, *bound.get(1)),
                                 bound.integer(2, -1)));
}

Value texts_like(const Value& self, const std::vector<std::string>& pieces) {
  List list;
  list.reserve(pieces.size());
  for (const std::string& piece : pieces) list.push_back(text_like(self, piece));
  return Value::list(std::move(list));
}

std::vector<std::string> split_by(const std::string& text, const std::string& separator,
                                  std::int64_t most, bool from_right) {
  if (separator.empty()) value_error("empty separator");
  if (most < 0) most = INT64_MAX;
  charge_steps(static_cast<std::int64_t>(text.size() / 64));
  std::vector<std::string> pieces;
  std::string_view rest = text;
  for (; most > 0; --most) {
    const std::size_t found = from_right ? find_last(rest, separator) : find_first(rest, separator);
    if (found == std::string_view::npos) break;
    charge_steps(1);
    const std::size_t after = found + separator.size();
    pieces.emplace_back(from_right ? rest.substr(after) : rest.substr(0, found));
    rest = from_right ? rest.substr(0, found) : rest.substr(after);
  }
  pieces.emplace_back(rest);
  if (from_right) std::reverse(pieces.begin(), pieces.end());
  return pieces;
}

template <bool from_right>
Value split_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("split", std::move(arguments), {"sep", "maxsplit"});
  const Value* separator = bound.get(0);
  const std::int64_t most = bound.integer(1, -1);
  if (separator == nullptr || separator->is_none()) {
    return texts_like(self, split_space(self.as_string(), most, from_right));
  }
  return texts_like(self, split_by(self.as_string(), bound.text(0), most, from_right));
}

Value splitlines_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("splitlines", std::move(arguments), {"keepends"});
  return texts_like(self, split_lines(self.as_string(), bound.flag(0)));
}

template <bool from_right>
Value partition_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("partition", std::move(arguments), {"sep"}, 1);
  const std::string& text = self.as_string();
  const std::string& separator = bound.text(0);
  if (separator.empty()) value_error("empty separator");
  charge_steps(static_cast<std::int64_t>(text.size() / 64));
  const std::size_t found = from_right ? find_last(text, separator) : find_first(text, separator);
  const auto like = [&self](std::string s) { return text_like(self, std::move(s)); };
  if (found == std::string::npos) {
    return from_right ? Value::tuple({like(""), like(""), like(text)})
                      : Value::tuple({like(text), like(""), like("")});
  }
  return Value::tuple(
      {like(text.substr(0, found)), like(separator), like(text.substr(found + separator.size()))});
}

Value join_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("join", std::move(arguments), {"iterable"}, 1);
  const auto items = must_iterate(*bound.get(0));
  std::string out;
  for (std::int64_t i = 0;; ++i) {
    const auto item = items->next();
    if (!item) break;
    charge_steps(1);
    if (!item->is_text() && !self.is_markup()) {
      type_error("sequence item " + std::to_string(i) + ": expected str instance, " +
                 type_name(*item) + " found");
    }
    const std::string piece = self.is_markup() ? escape(*item).as_string() : item->as_string();
    check_size(out.size() + self.as_string().size() + piece.size(), 1);
    if (i > 0) out += self.as_string();
    out += piece;
  }
  return text_like(self, std::move(out));
}

// The part of the text that start and end select, and where it begins.
std::string_view selected(const Value& self, const Bound& bound, std::int64_t& first) {
  const std::string& text = self.as_string();
  const auto size = static_cast<std::int64_t>(self.as_text().length);
  const auto place = [&](std::size_t parameter, std::int64_t absent) {
    const Value* given = bound.get(parameter);
    std::int64_t at = given == nullptr || given->is_none() ? absent : bound.integer(parameter, 0);
    if (at < 0) at = std::max<std::int64_t>(std::max(at, -size) + size, 0);
    return at;
  };
  first = place(1, 0);
  const std::int64_t last = std::min(place(2, size), size);
  charge_steps(static_cast<std::int64_t>(text.size() / 64));
  if (first == 0 && last == size) return text;
  charge_steps(static_cast<std::int64_t>(text.size() / 16));
  if (first > last) {
    first = -1;
    return {};
  }
  const std::size_t begin = byte_offset(text, static_cast<std::size_t>(first));
  const std::size_t end = byte_offset(text, static_cast<std::size_t>(last));
  return std::string_view(text).substr(begin, end - begin);
}

template <bool from_right, bool must>
Value find_text(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("find", std::move(arguments), {"sub", "start", "end"}, 1);
  std::int64_t first = 0;
  const std::string_view part = selected(self, bound, first);
  const std::string& sub = bound.text(0);
  const std::size_t found = first < 0    ? std::string_view::npos
                            : from_right ? find_last(part, sub)
                                         : find_first(part, sub);
  if (found == std::string_view::npos) {
    if (must) value_error("substring not found");
    return Value::integer(-1);
  }
  return Value::integer(first +
                        static_cast<std::int64_t>(count_code_points(part.substr(0, found))));
}

Value count_text(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("count", std::move(arguments), {"sub", "start", "end"}, 1);
  std::int64_t first = 0;
  const std::string_view part = selected(self, bound, first);
  const std::string& sub = bound.text(0);
  if (first < 0) return Value::integer(0);
  if (sub.empty()) return Value::integer(static_cast<std::int64_t>(count_code_points(part)) + 1);
  std::int64_t count = 0;
  for (std::size_t at = find_first(part, sub); at != std::string_view::npos;
       at = find_first(part, sub, at + sub.size())) {
    ++count;
  }
  return Value::integer(count);
}

template <bool at_end>
Value begins_or_ends(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound(at_end ? "endswith" : "startswith", std::move(arguments),
                    {"prefix", "start", "end"}, 1);
  std::int64_t first = 0;
  const std::string_view part = selected(self, bound, first);
  const auto matches = [&](const Value& fix) {
    if (!fix.is_text()) {
      type_error(std::string(at_end ? "endswith" : "startswith") +
                 " first arg must be str or a tuple of str, not " + type_name(fix));
    }
    charge_steps(static_cast<std::int64_t>(fix.as_string().size() / 256));
    return first >= 0 &&
           (at_end ? part.ends_with(fix.as_string()) : part.starts_with(fix.as_string()));
  };
  const Value& fix = *bound.get(0);
  if (fix.kind() != Kind::kTuple) return Value::boolean(matches(fix));
  return Value::boolean(std::any_of(fix.as_list().begin(), fix.as_list().end(), matches));
}

template <bool at_end>
Value remove_affix(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("removeprefix", std::move(arguments), {"prefix"}, 1);
  const std::string& text = self.as_string();
  const std::string& affix = bound.text(0);
  charge_steps(static_cast<std::int64_t>(affix.size() / 256));
  if (at_end && !affix.empty() && text.ends_with(affix)) {
    return text_like(self, text.substr(0, text.size() - affix.size()));
  }
  if (!at_end && text.starts_with(affix)) return text_like(self, text.substr(affix.size()));
  return self;
}

template <bool left, bool right>
Value pad_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("just", std::move(arguments), {"width", "fillchar"}, 1);
  const Value fill = bound.or_else(1, Value::text(" "));
  if (!fill.is_text() || fill.as_text().length != 1) {
    type_error("the fill character must be exactly one character long");
  }
  return text_like(self,
                   pad(self.as_string(), bound.integer(0, 0), inserted(self, fill), left, right));
}

Value zfill_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("zfill", std::move(arguments), {"width"}, 1);
  const std::string& text = self.as_string();
  const bool sign = text.starts_with("+") || text.starts_with("-");
  const std::string digits = text.substr(sign ? 1 : 0);
  const std::int64_t width = std::max<std::int64_t>(bound.integer(0, 0), 0) - (sign ? 1 : 0);
  return text_like(self, text.substr(0, sign ? 1 : 0) + pad(digits, width, "0", true, false));
}

Value expandtabs_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("expandtabs", std::move(arguments), {"tabsize"});
  const std::int64_t size = bound.integer(0, 8);
  std::string out;
  std::int64_t column = 0;
  const std::string& text = self.as_string();
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c == '\t') {
      const std::int64_t spaces = size > 0 ? size - column % size : 0;
      check_size(out.size() + static_cast<std::size_t>(spaces), 1);
      out.append(static_cast<std::size_t>(spaces), ' ');
      column += spaces;
    } else {
      append_utf8(out, c);
      column = c == '\n' || c == '\r' ? 0 : column + 1;
    }
  }
  return text_like(self, std::move(out));
}

Value format_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  return format_text(interpreter, self, arguments);
}

Value format_map_method(Interpreter& interpreter, const Value& self, Arguments arguments) {
  const Bound bound("format_map", std::move(arguments), {"mapping"}, 1);
  Arguments named;
  if (!bound.get(0)->is_dict()) type_error("format_map() argument must be a mapping");
  for (const auto& [key, value] : bound.get(0)->as_dict().items) {
    if (key.is_text()) named.keywords.emplace_back(key.as_string(), value);
  }
  return format_text(interpreter, self, named);
}

constexpr Method kMethods[] = {
    {"upper", changed<to_upper>},
    {"lower", changed<to_lower>},
    {"title", changed<to_title>},
    {"capitalize", changed<to_capitalized>},
    {"swapcase", changed<swap_case>},
    {"casefold", changed<fold_case>},
    {"strip", strip_method<true, true>},
    {"lstrip", strip_method<true, false>},
    {"rstrip", strip_method<false, true>},
    {"replace", replace_method, true},
    {"split", split_method<false>, true},
    {"rsplit", split_method<true>, true},
    {"splitlines", splitlines_method, true},
    {"partition", partition_method<false>},
    {"rpartition", partition_method<true>},
    {"join", join_method},
    {"find", find_text<false, false>},
    {"rfind", find_text<true, false>},
    {"index", find_text<false, true>},
    {"rindex", find_text<true, true>},
    {"count", count_text},
    {"startswith", begins_or_ends<false>},
    {"endswith", begins_or_ends<true>},
    {"removeprefix", remove_affix<false>},
    {"removesuffix", remove_affix<true>},
    {"ljust", pad_method<false, true>},
    {"rjust", pad_method<true, false>},
    {"center", pad_method<true, true>},
    {"zfill", zfill_method},
    {"expandtabs", expandtabs_method, true},
    {"format", format_method, true},
    {"format_map", format_map_method},
    {"translate", translate_method},
    {"maketrans", maketrans_method},
    {"encode", encode_method, true},
};

}  // namespace

const Method* find_text_method(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMethods), std::end(kMethods),
                                   [name](const Method& m) { return m.name == name; });
  return found == std::end(kMethods) ? nullptr : found;
}

}  // namespace quire::jinja
