// SPDX-License-Identifier: Apache-2.0
// str.format, as the sandbox runs it.
#include <algorithm>
#include <cmath>

#include "text/jinja/methods.h"
#include "text/jinja/number_format.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

constexpr std::int64_t kMaxWidth = std::int64_t{1} << 40;

std::int64_t read_digits(std::string_view text, std::size_t& at) {
  std::int64_t value = 0;
  for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at) {
    value = std::min(value * 10 + (text[at] - '0'), kMaxWidth);
  }
  return value;
}

// A name of a field that is a number, as CPython reads it; nothing for any other.
std::optional<std::int64_t> field_number(std::string_view name) {
  if (name.empty()) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') return std::nullopt;
    if (__builtin_mul_overflow(value, 10, &value) ||
        __builtin_add_overflow(value, c - '0', &value)) {
      value_error("Too many decimal digits in format string");
    }
  }
  return value;
}

// [[fill]align][sign][#][0][width][grouping][.precision][type]
FieldStyle parse_style(std::string_view spec, bool number, char& type) {
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '=' || c == '^'; };
  FieldStyle style;
  std::size_t at = 0;
  bool fill_given = false;
  if (!spec.empty()) {
    std::size_t after = 0;
    next_code_point(spec, after);
    if (after < spec.size() && is_align(spec[after])) {
      style.fill = std::string(spec.substr(0, after));
      fill_given = true;
      style.align = spec[after];
      at = after + 1;
    } else if (is_align(spec[0])) {
      style.align = spec[0];
      at = 1;
    }
  }
  const auto at_any = [&](std::string_view any) {
    return at < spec.size() && any.find(spec[at]) != std::string_view::npos;
  };
  if (at_any("+- ")) style.sign = spec[at++];
  if (at_any("#")) style.alternate = true, ++at;
  if (!fill_given && at_any("0")) {
    ++at;
    style.fill = "0";
    if (number && style.align == '\0') style.align = '=';
  }
  style.width = read_digits(spec, at);
  if (at_any(",_")) style.grouping = spec[at++];
  if (at_any(".")) {
    ++at;
    if (!at_any("0123456789")) value_error("Format specifier missing precision");
    style.precision = read_digits(spec, at);
  }
  type = at < spec.size() ? spec[at++] : '\0';
  if (at < spec.size()) value_error("Invalid format specifier '" + std::string(spec) + "'");
  return style;
}

[[noreturn]] void unknown_code(char type, const Value& value) {
  value_error("Unknown format code '" + std::string(1, type) + "' for object of type '" +
              type_name(value) + "'");
}

std::string format_float(const Value& value, FieldStyle style, char type) {
  const double d = number_of(value);
  const bool negative = std::signbit(d);
  std::string digits =
      float_digits(negative ? -d : d, type == 'n' ? 'g' : type, style.precision, style.alternate);
  return in_field(style, '>', sign_of(negative, style), grouped(digits, style.grouping, 3));
}

std::string format_integer(const Value& value, const FieldStyle& style, char type) {
  if (type != '\0' && std::string_view("eEfFgG%").find(type) != std::string_view::npos) {
    return format_float(value, style, type);
  }
  if (style.precision >= 0) value_error("Precision not allowed in integer format specifier");
  const BigInt big = big_of(value);
  if (type == 'c') {
    const auto point = big.small();
    if (!point || *point < 0 || *point > 0x10FFFF) value_error("%c arg not in range(0x110000)");
    std::string text;
    append_utf8(text, static_cast<char32_t>(*point));
    return in_field(style, '<', "", text);
  }
  int base = 10;
  if (type == 'b') base = 2;
  if (type == 'o') base = 8;
  if (type == 'x' || type == 'X') base = 16;
  if (base == 10 && type != '\0' && type != 'd' && type != 'n') unknown_code(type, value);
  std::string digits = (big.negative() ? -big : big).to_string(base);
  if (type == 'X') digits = to_upper(digits);
  std::string sign = sign_of(big.negative(), style);
  if (style.alternate && base != 10) sign += std::string("0") + type;
  return in_field(style, '>', sign, grouped(digits, style.grouping, base == 10 ? 3 : 4));
}

std::string format_string(const Value& value, const FieldStyle& style, char type) {
  if (type != '\0' && type != 's') unknown_code(type, value);
  if (style.align == '=') {
    value_error("'=' alignment not allowed in string format specifier");
  }
  if (style.sign != '-') value_error("Sign not allowed in string format specifier");
  std::string text = value.as_string();
  if (style.precision >= 0) {
    text.resize(byte_offset(text, static_cast<std::size_t>(style.precision)));
  }
  return in_field(style, '<', "", text);
}

// One run over a format text.
class Formatter {
 public:
  Formatter(Interpreter& interpreter, const Arguments& arguments, bool markup)
      : interpreter_(interpreter), arguments_(arguments), markup_(markup) {}

  std::string format(std::string_view text, int depth) {
    if (depth < 0) value_error("Max string recursion exceeded");
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
      charge_steps(1);
      const char c = text[at];
      if (c != '{' && c != '}') {
        out.push_back(c);
        ++at;
      } else if (at + 1 < text.size() && text[at + 1] == c) {
        out.push_back(c);
        at += 2;
      } else if (c == '}') {
        value_error("Single '}' encountered in format string");
      } else {
        const std::string_view inside = field_text(text, at);
        const std::string piece = field(inside, depth);
        check_size(out.size() + piece.size(), 1);
        out += piece;
      }
    }
    return out;
  }

 private:
  // The text between the brace at `at` and the one that closes it.
  static std::string_view field_text(std::string_view text, std::size_t& at) {
    const std::size_t begin = at + 1;
    int open = 0;
    for (std::size_t i = at; i < text.size(); ++i) {
      if (text[i] == '{') ++open;
      if (text[i] == '}' && --open == 0) {
        at = i + 1;
        return text.substr(begin, i - begin);
      }
    }
    value_error(begin == text.size() ? "Single '{' encountered in format string"
                                     : "expected '}' before end of string");
  }

  std::string field(std::string_view inside, int depth) {
    int brackets = 0;
    std::size_t end = 0;
    for (; end < inside.size(); ++end) {
      if (inside[end] == '[') ++brackets;
      if (inside[end] == ']') --brackets;
      if (brackets <= 0 && (inside[end] == '!' || inside[end] == ':')) break;
    }
    Value value = resolve(inside.substr(0, end));
    std::string_view rest = inside.substr(end);
    if (rest.starts_with("!")) {
      if (rest.size() < 2) value_error("end of string while looking for conversion specifier");
      value = converted(value, rest[1]);
      rest.remove_prefix(2);
      if (!rest.empty() && rest[0] != ':') value_error("expected ':' after conversion specifier");
    }
    const std::string spec = rest.empty() ? std::string() : format(rest.substr(1), depth - 1);
    if (!markup_) return format_value(value, spec);
    if (value.is_markup()) {
      if (!spec.empty()) value_error("Unsupported format specification for Markup.");
      return value.as_string();
    }
    return escape_html(format_value(value, spec));
  }

  static Value converted(const Value& value, char how) {
    if (how == 's') return Value::text(to_text(value));
    if (how == 'r') return Value::text(to_repr(value));
    if (how == 'a') return Value::text(to_ascii(value));
    value_error("Unknown conversion specifier " + std::string(1, how));
  }

  // name, .attribute and [item] of it.
  Value resolve(std::string_view name) {
    const std::size_t end = std::min(name.find_first_of(".["), name.size());
    Value value = first(name.substr(0, end));
    std::string_view rest = name.substr(end);
    while (!rest.empty()) {
      if (rest[0] == '.') {
        const std::size_t stop = std::min(rest.find_first_of(".[", 1), rest.size());
        if (stop == 1) value_error("Empty attribute in format string");
        value = interpreter_.attribute(value, rest.substr(1, stop - 1));
        rest.remove_prefix(stop);
        continue;
      }
      const std::size_t stop = rest.find(']');
      if (rest[0] != '[' || stop == std::string_view::npos) {
        value_error("Missing ']' in format string");
      }
      const std::string_view key = rest.substr(1, stop - 1);
      const auto number = field_number(key);
      value = interpreter_.item(value,
                                number ? Value::integer(*number) : Value::text(std::string(key)));
      rest.remove_prefix(stop + 1);
    }
    return value;
  }

  Value first(std::string_view name) {
    std::optional<std::int64_t> number = field_number(name);
    if (name.empty() || number) {
      if (numbered_ && *numbered_ != name.empty()) {
        value_error("cannot switch between automatic field numbering and manual specification");
      }
      numbered_ = name.empty();
      if (name.empty()) number = next_++;
      if (*number >= static_cast<std::int64_t>(arguments_.positional.size())) {
        value_error("Replacement index " + std::to_string(*number) +
                    " out of range for positional args tuple");
      }
      return arguments_.positional[static_cast<std::size_t>(*number)];
    }
    charge_steps(static_cast<std::int64_t>(arguments_.keywords.size() / 64));
    for (const auto& [key, value] : arguments_.keywords) {
      if (key == name) return value;
    }
    value_error("no argument named '" + std::string(name) + "' for the format string");
  }

  Interpreter& interpreter_;
  const Arguments& arguments_;
  bool markup_;
  std::optional<bool> numbered_;  // true: fields are numbered automatically
  std::int64_t next_ = 0;
};

}  // namespace

std::string format_value(const Value& value, std::string_view specification) {
  if (specification.empty()) return to_text(value);
  if (!value.is_text() && !value.is_number()) {
    type_error("unsupported format string passed to " + type_name(value) + ".__format__");
  }
  char type = '\0';
  const FieldStyle style = parse_style(specification, value.is_number(), type);
  if (value.is_text()) return format_string(value, style, type);
  if (value.is_integral()) return format_integer(value, style, type);
  if (type != '\0' && std::string_view("eEfFgGn%").find(type) == std::string_view::npos) {
    unknown_code(type, value);
  }
  return format_float(value, style, type);
}

Value format_text(Interpreter& interpreter, const Value& format, const Arguments& arguments) {
  Formatter formatter(interpreter, arguments, format.is_markup());
  return text_like(format, formatter.format(format.as_string(), 2));
}

}  // namespace quire::jinja
