// SPDX-License-Identifier: Apache-2.0
// str() and repr() of values, as Python prints them.
#include "text/jinja/repr.h"

#include <array>
#include <charconv>
#include <cmath>

#include "text/jinja/unicode.h"
#include "text/jinja/value.h"

namespace quire::jinja {
namespace {

void append_code(std::string& out, char32_t c) {
  if (c < 0x100) {
    out += "\\x";
    append_hex(out, c, 2);
  } else if (c < 0x10000) {
    out += "\\u";
    append_hex(out, c, 4);
  } else {
    out += "\\U";
    append_hex(out, c, 8);
  }
}

void append_escaped(std::string& out, char32_t c, char32_t quote) {
  if (append_short_escape(out, c, quote)) return;
  if (is_printable(c)) {
    append_utf8(out, c);
  } else {
    append_code(out, c);
  }
}

void append_text_repr(std::string& out, const std::string& text) {
  const char quote = repr_quote(text);
  out.push_back(quote);
  for (std::size_t at = 0; at < text.size();) {
    append_escaped(out, next_code_point(text, at), static_cast<char32_t>(quote));
  }
  out.push_back(quote);
}

void append_repr(std::string& out, const Value& value);

void append_items(std::string& out, const List& items) {
  bool first = true;
  for (const Value& item : items) {
    if (!first) out += ", ";
    first = false;
    append_repr(out, item);
  }
}

void append_dict(std::string& out, const DictObject& dict) {
  out.push_back('{');
  bool first = true;
  for (const auto& [key, value] : dict.items) {
    if (!first) out += ", ";
    first = false;
    append_repr(out, key);
    out += ": ";
    append_repr(out, value);
  }
  out.push_back('}');
}

void append_range(std::string& out, const RangeObject& range) {
  out += "range(" + std::to_string(range.start) + ", " + std::to_string(range.stop);
  if (range.step != 1) out += ", " + std::to_string(range.step);
  out.push_back(')');
}

void append_repr(std::string& out, const Value& value) {
  const Nested nested;
  charge_steps(1);
  check_size(out.size(), 1);
  switch (value.kind()) {
    case Kind::kUndefined:
      out += "Undefined";
      break;
    case Kind::kText:
      if (value.is_markup()) out += "Markup(";
      append_text_repr(out, value.as_string());
      if (value.is_markup()) out.push_back(')');
      break;
    case Kind::kList:
      out.push_back('[');
      append_items(out, value.as_list());
      out.push_back(']');
      break;
    case Kind::kTuple:
      out.push_back('(');
      append_items(out, value.as_list());
      out += value.as_list().size() == 1 ? ",)" : ")";
      break;
    case Kind::kDict:
      append_dict(out, value.as_dict());
      break;
    case Kind::kView: {
      out += type_name(value) + "([";
      append_items(out, to_list(value));
      out += "])";
      break;
    }
    case Kind::kRange:
      append_range(out, *value.get<RangeObject>());
      break;
    default:
      out += to_text(value);
      break;
  }
}

}  // namespace

char repr_quote(std::string_view text) {
  const bool single = text.find('\'') != std::string_view::npos;
  const bool twice = text.find('"') != std::string_view::npos;
  return single && !twice ? '"' : '\'';
}

bool append_short_escape(std::string& out, char32_t c, char32_t quote) {
  if (c == quote || c == '\\') {
    out += {'\\', static_cast<char>(c)};
  } else if (c == '\n') {
    out += "\\n";
  } else if (c == '\r') {
    out += "\\r";
  } else if (c == '\t') {
    out += "\\t";
  } else {
    return false;
  }
  return true;
}

void append_hex(std::string& out, char32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out.push_back("0123456789abcdef"[value >> shift & 0xF]);
  }
}

std::string float_repr(double d) {
  if (std::isnan(d)) return "nan";
  if (std::isinf(d)) return d < 0 ? "-inf" : "inf";
  std::array<char, 64> buffer{};
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), d, std::chars_format::scientific)
          .ptr;
  // [-]d[.ddd]e±xx, the shortest digits that read back as the same number.
  std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  std::string out;
  if (text.front() == '-') {
    out.push_back('-');
    text.remove_prefix(1);
  }
  const std::size_t e = text.find('e');
  const int exponent = std::stoi(std::string(text.substr(e + 1)));
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out += digits.substr(0, 1);
    if (count > 1) out += "." + digits.substr(1);
    const int size = std::abs(exponent);
    out += std::string(exponent < 0 ? "e-" : "e+") + (size < 10 ? "0" : "") + std::to_string(size);
  } else if (exponent < 0) {
    out += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (count <= exponent + 1) {
    out += digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
  } else {
    const auto whole = static_cast<std::size_t>(exponent + 1);
    out += digits.substr(0, whole) + "." + digits.substr(whole);
  }
  return out;
}

std::string to_repr(const Value& value) {
  std::string out;
  append_repr(out, value);
  return out;
}

std::string to_ascii(const Value& value) {
  const std::string text = to_repr(value);
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    if (c < 0x80) {
      out.push_back(static_cast<char>(c));
    } else {
      append_code(out, c);
    }
  }
  return out;
}

std::string to_text(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return {};
    case Kind::kNone:
      return "None";
    case Kind::kBool:
      return value.as_bool() ? "True" : "False";
    case Kind::kInt:
      return std::to_string(value.as_int());
    case Kind::kBigInt:
      if (value.as_big().bytes() > 2000) value_error("an integer of too many digits to print");
      return value.as_big().to_string();
    case Kind::kFloat:
      return float_repr(value.as_float());
    case Kind::kText:
      return value.as_string();
    case Kind::kList:
    case Kind::kTuple:
    case Kind::kDict:
    case Kind::kView:
    case Kind::kRange:
      return to_repr(value);
    default:
      return value.object()->describe();
  }
}

}  // namespace quire::jinja
