// SPDX-License-Identifier: Apache-2.0
// Filters for markup and addresses, and escaping itself.
#include <algorithm>
#include <set>

#include "text/jinja/filters.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

Value escape_filter(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("escape", std::move(arguments), {});
  return escape(input);
}

Value forceescape(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("forceescape", std::move(arguments), {});
  return Value::text(escape_html(to_text(input)), true);
}

Value safe(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("safe", std::move(arguments), {});
  return Value::text(to_text(input), true);
}

struct Entity {
  std::string_view name;
  char32_t code_point;
};
constexpr Entity kEntities[] = {{"amp;", '&'},      {"lt;", '<'},        {"gt;", '>'},
                                {"quot;", '"'},     {"apos;", '\''},     {"nbsp;", 0xA0},
                                {"copy;", 0xA9},    {"reg;", 0xAE},      {"raquo;", 0xBB},
                                {"laquo;", 0xAB},   {"hellip;", 0x2026}, {"mdash;", 0x2014},
                                {"ndash;", 0x2013}, {"lsquo;", 0x2018},  {"rsquo;", 0x2019},
                                {"ldquo;", 0x201C}, {"rdquo;", 0x201D},  {"euro;", 0x20AC}};

// A numeric entity at the start of `rest`: its code point and size; size 0 for none.
std::pair<char32_t, std::size_t> numeric_entity(std::string_view rest) {
  if (!rest.starts_with("&#")) return {0, 0};
  const bool hex = rest.size() > 2 && (rest[2] | 0x20) == 'x';
  std::size_t end = hex ? 3 : 2;
  const std::size_t begin = end;
  while (end < rest.size() && end < begin + 9 &&
         BigInt::parse(rest.substr(end, 1), hex ? 16 : 10)) {
    ++end;
  }
  const auto value = BigInt::parse(rest.substr(begin, end - begin), hex ? 16 : 10);
  if (!value || *value->small() > 0x10FFFF) return {0, 0};
  if (end < rest.size() && rest[end] == ';') ++end;
  return {static_cast<char32_t>(*value->small()), end};
}

std::string unescape_html(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = text.substr(at);
    if (const auto [c, size] = numeric_entity(rest); size > 0) {
      append_utf8(out, c == 0 || (c >= 0xD800 && c < 0xE000) ? 0xFFFD : c);
      at += size;
      continue;
    }
    const auto* entity = std::find_if(
        std::begin(kEntities), std::end(kEntities),
        [rest](const Entity& e) { return rest[0] == '&' && rest.substr(1).starts_with(e.name); });
    if (entity == std::end(kEntities)) {
      out.push_back(text[at++]);
    } else {
      append_utf8(out, entity->code_point);
      at += entity->name.size() + 1;
    }
  }
  return out;
}

Value unescape_method(Interpreter&, const Value& self, Arguments arguments) {
  const Bound bound("unescape", std::move(arguments), {});
  return Value::text(unescape_html(self.as_string()));
}

Value striptags(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("striptags", std::move(arguments), {});
  const std::string text = to_text(input);
  std::string kept;
  std::size_t at = 0;
  for (std::size_t open = text.find('<'); open != std::string::npos; open = text.find('<', at)) {
    const bool comment = text.compare(open, 4, "<!--") == 0;
    const std::size_t close = comment ? text.find("-->", open + 4) : text.find('>', open);
    if (close == std::string::npos) break;
    kept += text.substr(at, open - at);
    at = close + (comment ? 3 : 1);
  }
  kept += text.substr(at);
  std::string out;
  for (const std::string& word : split_space(kept, -1, false)) {
    if (!out.empty()) out += ' ';
    out += word;
  }
  return Value::text(unescape_html(out));
}

std::string quote(const Value& value, bool for_query) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  std::string out;
  for (const char c : to_text(value)) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '_' || c == '.' || c == '-' || c == '~' || (c == '/' && !for_query);
    if (plain) {
      out.push_back(c);
    } else if (c == ' ' && for_query) {
      out.push_back('+');
    } else {
      const auto byte = static_cast<unsigned char>(c);
      out.push_back('%');
      out.push_back(kHex[byte >> 4]);
      out.push_back(kHex[byte & 15]);
    }
  }
  return out;
}

Value urlencode(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("urlencode", std::move(arguments), {});
  if (input.is_text() || iterate(input) == nullptr) return Value::text(quote(input, false));
  const Value pairs =
      input.is_dict()
          ? Value(Kind::kView, std::make_shared<ViewObject>(input, ViewObject::Of::kItems))
          : input;
  std::string out;
  for (const Value& pair : to_list(pairs)) {
    const List parts = to_list(pair);
    if (parts.size() != 2) value_error("pairs are wanted, to unpack into a key and a value");
    if (!out.empty()) out += '&';
    out += quote(parts[0], true) + "=" + quote(parts[1], true);
    check_size(out.size(), 1);
  }
  return Value::text(std::move(out));
}

Value xmlattr(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("xmlattr", std::move(arguments), {"autospace"});
  if (!input.is_dict()) return interpreter.call(interpreter.attribute(input, "items"), {});
  std::string out;
  for (const auto& [key, value] : input.as_dict().items) {
    if (value.is_none() || value.is_undefined()) continue;
    if (!key.is_text()) type_error("expected string or bytes-like object");
    if (key.as_string().find_first_of(" \t\n\r\f\v/>=") != std::string::npos) {
      value_error("Invalid character in attribute name: " + to_repr(key));
    }
    if (!out.empty()) out += ' ';
    out += escape(key).as_string() + "=\"" + escape(value).as_string() + "\"";
    check_size(out.size(), 1);
  }
  if (truthy(bound.or_else(0, Value::boolean(true))) && !out.empty()) out.insert(0, " ");
  return Value::text(std::move(out), interpreter.autoescape());
}

std::string joined(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : " ") + word;
  return out;
}

bool is_scheme(const std::string& scheme) {
  const std::size_t colon = scheme.find(':');
  if (colon == std::string::npos || colon < 2) return false;
  const std::string rest = scheme.substr(colon + 1);
  if (!rest.empty() && rest != "/" && rest != "//") return false;
  return std::all_of(
      scheme.begin(), scheme.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
        return is_word(static_cast<unsigned char>(c)) || c == '.' || c == '+' || c == '-';
      });
}

Value urlize(Interpreter& interpreter, const Value& input, Arguments arguments) {
  const Bound bound("urlize", std::move(arguments),
                    {"trim_url_limit", "nofollow", "target", "rel", "extra_schemes"});
  LinkStyle style;
  const auto given = [&bound](std::size_t i) {
    return bound.get(i) != nullptr && !bound.get(i)->is_none();
  };
  if (given(0)) style.trim = bound.integer(0, 0);
  std::set<std::string> rel = {"noopener"};
  if (bound.flag(1)) rel.insert("nofollow");
  if (given(3)) {
    for (const std::string& word : split_space(bound.text(3), -1, false)) rel.insert(word);
  }
  style.rel = escape_html(joined(rel));
  if (given(2)) style.target = escape_html(bound.text(2));
  if (given(4)) {
    for (const Value& scheme : to_list(*bound.get(4))) {
      if (!scheme.is_text() || !is_scheme(scheme.as_string())) {
        value_error(to_repr(scheme) + " is not a valid URI scheme prefix.");
      }
      style.schemes.push_back(scheme.as_string());
    }
  }
  return Value::text(link_addresses(escape(input).as_string(), style), interpreter.autoescape());
}

constexpr Filter kFilters[] = {
    {"escape", escape_filter},    {"e", escape_filter},
    {"forceescape", forceescape}, {"safe", safe},
    {"striptags", striptags},     {"urlencode", urlencode},
    {"xmlattr", xmlattr},         {"urlize", urlize},
};

constexpr Method kMarkupMethods[] = {{"unescape", unescape_method}, {"striptags", striptags}};

}  // namespace

const Method* find_markup_method(std::string_view name) {
  const auto* found = std::find_if(std::begin(kMarkupMethods), std::end(kMarkupMethods),
                                   [name](const Method& m) { return m.name == name; });
  return found == std::end(kMarkupMethods) ? nullptr : found;
}

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '\'':
        out += "&#39;";
        break;
      case '"':
        out += "&#34;";
        break;
      default:
        out.push_back(c);
    }
  }
  return out;
}

Value escape(const Value& value) {
  if (value.is_markup()) return value;
  const std::string text = to_text(value);
  check_size(text.size(), 1);
  return Value::text(escape_html(text), true);
}

FilterFunction find_html_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
