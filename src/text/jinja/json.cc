// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/json.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

constexpr std::size_t kMaxJsonDepth = 200;

// Builds values from nlohmann's events, so that order and the spelling of numbers survive.
class Builder final : public nlohmann::json_sax<nlohmann::json> {
 public:
  bool null() override { return put(Value::none()); }
  bool boolean(bool b) override { return put(Value::boolean(b)); }
  bool number_integer(number_integer_t i) override { return put(Value::integer(i)); }
  bool number_unsigned(number_unsigned_t u) override {
    return put(Value::integer(*BigInt::parse(std::to_string(u))));
  }
  bool number_float(number_float_t d, const string_t& spelled) override {
    std::string_view digits = spelled;
    const bool negative = !digits.empty() && digits.front() == '-';
    if (negative) digits.remove_prefix(1);
    if (const auto big = BigInt::parse(digits)) return put(Value::integer(negative ? -*big : *big));
    return put(Value::number(d));
  }
  bool string(string_t& s) override { return put(Value::text(s)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(true); }
  bool start_array(std::size_t) override { return open(false); }
  bool key(string_t& k) override {
    stack_.back().keys.push_back(k);
    return true;
  }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t at, const std::string&,
                   const nlohmann::detail::exception&) override {
    problem_ = "not valid JSON at byte " + std::to_string(at);
    return false;
  }

  Value take() { return std::move(result_); }
  const std::string& problem() const { return problem_; }

 private:
  struct Open {
    bool object;
    std::vector<std::string> keys;
    List values;
  };

  bool put(Value v) {
    if (stack_.empty()) {
      result_ = std::move(v);
    } else {
      stack_.back().values.push_back(std::move(v));
    }
    return true;
  }

  bool open(bool object) {
    if (stack_.size() >= kMaxJsonDepth) {
      problem_ = "JSON nested deeper than " + std::to_string(kMaxJsonDepth) + " levels";
      return false;
    }
    stack_.push_back({object, {}, {}});
    return true;
  }

  bool close() {
    Open done = std::move(stack_.back());
    stack_.pop_back();
    if (!done.object) return put(Value::list(std::move(done.values)));
    auto dict = make_dict();
    for (std::size_t i = 0; i < done.values.size(); ++i) {
      dict->set(Value::text(std::move(done.keys[i])), std::move(done.values[i]));
    }
    return put(dict_value(std::move(dict)));
  }

  std::vector<Open> stack_;
  Value result_;
  std::string problem_;
};

class Dumper {
 public:
  explicit Dumper(const JsonStyle& style) : style_(style) {}

  void dump(const Value& value) {
    const Nested nested;
    charge_steps(1);
    check_size(out_.size(), 1);
    switch (value.kind()) {
      case Kind::kNone:
        out_ += "null";
        break;
      case Kind::kBool:
        out_ += value.as_bool() ? "true" : "false";
        break;
      case Kind::kInt:
      case Kind::kBigInt:
        out_ += to_text(value);
        break;
      case Kind::kFloat:
        out_ += number(value.as_float());
        break;
      case Kind::kText:
        quote(value.as_string());
        break;
      case Kind::kList:
      case Kind::kTuple:
        list(value.as_list());
        break;
      case Kind::kDict:
        dict(value.as_dict());
        break;
      default:
        type_error("Object of type " + type_name(value) + " is not JSON serializable");
    }
  }

  std::string take() { return std::move(out_); }

 private:
  static std::string number(double d) {
    if (std::isnan(d)) return "NaN";
    if (std::isinf(d)) return d < 0 ? "-Infinity" : "Infinity";
    return float_repr(d);
  }

  void unicode_escape(char32_t unit) {
    out_ += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) {
      out_.push_back("0123456789abcdef"[unit >> shift & 0xF]);
    }
  }

  void escape(char32_t c) {
    switch (c) {
      case '"':
        out_ += "\\\"";
        return;
      case '\\':
        out_ += "\\\\";
        return;
      case '\n':
        out_ += "\\n";
        return;
      case '\r':
        out_ += "\\r";
        return;
      case '\t':
        out_ += "\\t";
        return;
      case '\f':
        out_ += "\\f";
        return;
      case '\b':
        out_ += "\\b";
        return;
      default:
        break;
    }
    if (c < 0x20 || (style_.ensure_ascii && c > 0x7E && c < 0x10000)) {
      unicode_escape(c);
    } else if (style_.ensure_ascii && c >= 0x10000) {
      unicode_escape(0xD800 + ((c - 0x10000) >> 10));
      unicode_escape(0xDC00 + ((c - 0x10000) & 0x3FF));
    } else {
      append_utf8(out_, c);
    }
  }

  void quote(const std::string& text) {
    out_.push_back('"');
    for (std::size_t at = 0; at < text.size();) escape(next_code_point(text, at));
    out_.push_back('"');
  }

  void line() {
    if (!style_.indented) return;
    out_.push_back('\n');
    for (int i = 0; i < level_; ++i) out_ += style_.indent;
  }

  void list(const List& items) {
    if (items.empty()) {
      out_ += "[]";
      return;
    }
    out_.push_back('[');
    ++level_;
    bool first = true;
    for (const Value& item : items) {
      if (!first) out_ += style_.item_separator;
      first = false;
      line();
      dump(item);
    }
    --level_;
    line();
    out_.push_back(']');
  }

  std::string key_text(const Value& key) {
    switch (key.kind()) {
      case Kind::kText:
        return key.as_string();
      case Kind::kNone:
        return "null";
      case Kind::kBool:
        return key.as_bool() ? "true" : "false";
      case Kind::kInt:
      case Kind::kBigInt:
        return to_text(key);
      case Kind::kFloat:
        return number(key.as_float());
      default:
        type_error("keys must be str, int, float, bool or None, not " + type_name(key));
    }
  }

  void dict(const DictObject& dict) {
    if (dict.size() == 0) {
      out_ += "{}";
      return;
    }
    std::vector<const std::pair<Value, Value>*> entries;
    for (const auto& entry : dict.items) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(),
                       [](const auto* a, const auto* b) { return less(a->first, b->first); });
    }
    out_.push_back('{');
    ++level_;
    bool first = true;
    for (const auto* entry : entries) {
      if (!first) out_ += style_.item_separator;
      first = false;
      line();
      quote(key_text(entry->first));
      out_ += style_.key_separator;
      dump(entry->second);
    }
    --level_;
    line();
    out_.push_back('}');
  }

  const JsonStyle& style_;
  std::string out_;
  int level_ = 0;
};

}  // namespace

Value parse_json_value(std::string_view text, std::string_view subject) {
  Builder builder;
  if (!nlohmann::json::sax_parse(text, &builder)) {
    throw Error(ErrorCode::kInvalidArgument, subject,
                builder.problem().empty() ? "not valid JSON" : builder.problem());
  }
  return builder.take();
}

std::string dump_json(const Value& value, const JsonStyle& style) {
  Dumper dumper(style);
  dumper.dump(value);
  return dumper.take();
}

}  // namespace quire::jinja
