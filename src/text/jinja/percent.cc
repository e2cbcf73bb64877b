// SPDX-License-Identifier: Apache-2.0
// text % arguments.
#include <algorithm>
#include <cmath>

#include "text/jinja/methods.h"
#include "text/jinja/number_format.h"
#include "text/jinja/operators.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

class PercentFormatter {
 public:
  PercentFormatter(const Value& format, const Value& arguments)
      : text_(format.as_string()), markup_(format.is_markup()), arguments_(arguments) {
    if (arguments.kind() == Kind::kTuple) {
      positional_ = arguments.as_list();
    } else {
      positional_.push_back(arguments);
    }
  }

  std::string run() {
    while (at_ < text_.size()) {
      charge_steps(1);
      if (text_[at_] != '%') {
        out_.push_back(text_[at_++]);
        continue;
      }
      ++at_;
      field();
      check_size(out_.size(), 1);
    }
    const bool mapping = arguments_.kind() != Kind::kTuple && !arguments_.is_text() &&
                         (arguments_.is_dict() || arguments_.is_undefined() ||
                          arguments_.kind() == Kind::kList || arguments_.kind() == Kind::kRange);
    if (next_ < positional_.size() && !mapping) {
      type_error("not all arguments converted during string formatting");
    }
    return std::move(out_);
  }

 private:
  Value next_argument() {
    if (next_ >= positional_.size()) type_error("not enough arguments for format string");
    return positional_[next_++];
  }

  std::optional<Value> key() {
    if (at_ >= text_.size() || text_[at_] != '(') return std::nullopt;
    if (!arguments_.is_dict()) type_error("format requires a mapping");
    const std::size_t end = text_.find(')', at_);
    if (end == std::string::npos) value_error("incomplete format key");
    const std::string name = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    const Value* found = arguments_.as_dict().find(std::string_view(name));
    if (found == nullptr) value_error("no key '" + name + "' in the mapping to format");
    return *found;
  }

  std::int64_t number() {
    if (at_ < text_.size() && text_[at_] == '*') {
      ++at_;
      const auto given = as_index(next_argument());
      if (!given) type_error("* wants int");
      return *given;
    }
    std::int64_t value = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      value = std::min<std::int64_t>(value * 10 + (text_[at_] - '0'), INT64_MAX / 20);
    }
    return value;
  }

  void field() {
    const auto named = key();
    FieldStyle style;
    style.align = '>';
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '-') {
        style.align = '<';
      } else if (c == '+' || (c == ' ' && style.sign == '-')) {
        style.sign = c;
      } else if (c == '#') {
        style.alternate = true;
      } else if (c == '0') {
        style.fill = "0";
      } else if (c != ' ') {
        break;
      }
    }
    style.width = number();
    if (style.width < 0) {
      style.align = '<';
      style.width = -std::max(style.width, -INT64_MAX);
    }
    if (at_ < text_.size() && text_[at_] == '.') {
      ++at_;
      style.precision = std::max<std::int64_t>(number(), 0);
    }
    while (at_ < text_.size() && (text_[at_] == 'h' || text_[at_] == 'l' || text_[at_] == 'L'))
      ++at_;
    if (at_ >= text_.size()) value_error("incomplete format");
    const char type = text_[at_++];
    if (type == '%') {
      out_.push_back('%');
      return;
    }
    out_ += converted(named ? *named : next_argument(), style, type);
  }

  std::string converted(const Value& value, FieldStyle style, char type) {
    if (style.align == '>' && style.fill == "0") style.align = '=';
    if (style.align == '<') style.fill = " ";
    switch (type) {
      case 's':
      case 'r':
      case 'a':
        return text(value, style, type);
      case 'd':
      case 'i':
      case 'u':
      case 'x':
      case 'X':
      case 'o':
        return integer(value, style, type);
      case 'e':
      case 'E':
      case 'f':
      case 'F':
      case 'g':
      case 'G':
        return real(value, style, type);
      case 'c':
        return character(value, style);
      default:
        value_error("unsupported format character '" + std::string(1, type) + "'");
    }
  }

  std::string text(const Value& value, FieldStyle style, char type) const {
    std::string s = type == 's' ? to_text(value) : type == 'r' ? to_repr(value) : to_ascii(value);
    if (markup_) s = type == 's' ? escape(value).as_string() : escape_html(s);
    if (style.precision >= 0) s.resize(byte_offset(s, static_cast<std::size_t>(style.precision)));
    if (style.align == '=') style.align = '>', style.fill = " ";
    return in_field(style, '>', "", s);
  }

  static std::string integer(const Value& value, const FieldStyle& style, char type) {
    if (value.is_undefined()) fail_undefined(value);
    const bool decimal = type == 'd' || type == 'i' || type == 'u';
    if (!value.is_integral() && !(decimal && value.kind() == Kind::kFloat)) {
      type_error("%" + std::string(1, type) + " format: a number is required, not " +
                 type_name(value));
    }
    if (value.kind() == Kind::kFloat && !std::isfinite(value.as_float())) {
      value_error("cannot convert float infinity or NaN to integer");
    }
    const BigInt big = value.is_integral() ? big_of(value) : BigInt::from_double(value.as_float());
    const int base = type == 'o' ? 8 : decimal ? 10 : 16;
    std::string digits = (big.negative() ? -big : big).to_string(base);
    if (style.precision >= 0) digits = pad(digits, style.precision, "0", true, false);
    if (type == 'X') digits = to_upper(digits);
    std::string sign = sign_of(big.negative(), style);
    if (style.alternate && base != 10) sign += std::string("0") + type;
    return in_field(style, '>', sign, digits);
  }

  static std::string real(const Value& value, const FieldStyle& style, char type) {
    if (value.is_undefined()) fail_undefined(value);
    if (!value.is_number()) type_error("must be real number, not " + type_name(value));
    const double d = number_of(value);
    const bool negative = std::signbit(d);
    return in_field(style, '>', sign_of(negative, style),
                    float_digits(negative ? -d : d, type, style.precision, style.alternate));
  }

  static std::string character(const Value& value, FieldStyle style) {
    std::string s;
    if (value.is_text() && value.as_text().length == 1) {
      s = value.as_string();
    } else if (const auto point = as_index(value); point && *point >= 0 && *point <= 0x10FFFF) {
      append_utf8(s, static_cast<char32_t>(*point));
    } else {
      type_error("%c requires int or char");
    }
    if (style.align == '=') style.align = '>', style.fill = " ";
    return in_field(style, '>', "", s);
  }

  const std::string& text_;
  bool markup_;
  const Value& arguments_;
  List positional_;
  std::size_t next_ = 0;
  std::size_t at_ = 0;
  std::string out_;
};

}  // namespace

Value format_percent(const Value& format, const Value& arguments) {
  return text_like(format, PercentFormatter(format, arguments).run());
}

}  // namespace quire::jinja
