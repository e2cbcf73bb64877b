// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <cctype>
#include <vector>

#include "text/regex.h"

namespace quire {

namespace {

// PCRE2's \s lacks nothing but counts U+180E too, its \w lacks marks and connectors: spell both.
constexpr std::string_view kSpaceSet = "\\t-\\r \\x{85}\\p{Z}";
constexpr std::string_view kWordSet = "\\p{Alphabetic}\\p{M}\\p{N}\\p{Pc}";

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view subject)
      : in_(pattern), subject_(subject) {}

  std::string run() {
    while (at_ < in_.size()) step();
    return std::move(out_);
  }

 private:
  [[noreturn]] void fail(std::string_view problem) const {
    throw Error(ErrorCode::kUnsupported, subject_,
                "pattern '" + std::string(in_) + "': " + std::string(problem));
  }

  void step() {
    const char c = in_[at_];
    if (c == '{' && interval()) return;
    if (c == '?' || c == '*' || c == '+') {
      out_ += in_[at_++];
      return;
    }
    if (in_.substr(at_, 3) == "(?#") {
      comment();
      return;
    }
    if (c == ')' && !groups_.empty()) {
      atom_ = groups_.back();
      groups_.pop_back();
      out_ += in_[at_++];
      return;
    }
    atom_ = out_.size();
    if (c == '(') groups_.push_back(atom_);
    if (c == '\\') {
      out_ += escape();
    } else if (c == '[') {
      out_ += bracket();
    } else {
      out_ += in_[at_++];
    }
  }

  // An escape outside a class.
  std::string escape() {
    const char kind = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    const std::string word = "[" + std::string(kWordSet) + "]";
    std::string out;
    switch (kind) {
      case 's':
        out = "[" + std::string(kSpaceSet) + "]";
        break;
      case 'S':
        out = "[^" + std::string(kSpaceSet) + "]";
        break;
      case 'w':
        out = word;
        break;
      case 'W':
        out = "[^" + std::string(kWordSet) + "]";
        break;
      case 'h':
        out = "[0-9A-Fa-f]";
        break;
      case 'H':
        out = "[^0-9A-Fa-f]";
        break;
      case 'b':
        out = "(?:(?<=" + word + ")(?!" + word + ")|(?<!" + word + ")(?=" + word + "))";
        break;
      case 'B':
        out = "(?:(?<=" + word + ")(?=" + word + ")|(?<!" + word + ")(?!" + word + "))";
        break;
      default:
        return plain_escape(kind);
    }
    at_ += 2;
    return out;
  }

  // \p{...}, \x.., \u.... and the rest, in a class or out of it.
  std::string plain_escape(char kind) {
    if (kind == '\0') fail("it ends in a backslash");
    if (kind == 'u' && at_ + 6 <= in_.size()) {
      const std::string out = "\\x{" + std::string(in_.substr(at_ + 2, 4)) + "}";
      at_ += 6;
      return out;
    }
    if ((kind == 'p' || kind == 'P') && in_.substr(at_ + 2, 1) == "{") return property(kind);
    const std::string out(in_.substr(at_, 2));
    at_ += 2;
    return out;
  }

  // Oniguruma negates with \p{^X}; names are spelled alike.
  std::string property(char kind) {
    const std::size_t close = in_.find('}', at_);
    if (close == std::string_view::npos) fail("\\p{ is not closed");
    const std::string out =
        std::string("\\") + kind + std::string(in_.substr(at_ + 2, close + 1 - at_ - 2));
    at_ = close + 1;
    return out;
  }

  // A character class; A&&B becomes a look-ahead and a class.
  std::string bracket() {
    if (++depth_ > 50) fail("classes are nested too deeply");
    std::string set = "[";
    std::string conditions;
    ++at_;
    if (at_ < in_.size() && in_[at_] == '^') {
      set += in_[at_++];
    }
    if (at_ < in_.size() && in_[at_] == ']') {
      set += "\\]";
      ++at_;
    }
    while (true) {
      if (at_ >= in_.size()) fail("a character class is not closed");
      if (in_[at_] == ']') break;
      if (in_.substr(at_, 2) == "&&") {
        if (set.starts_with("[^")) fail("a negated class with && is not supported");
        at_ += 2;
        conditions += "(?=" + operand() + ")";
      } else {
        set += class_item();
      }
    }
    ++at_;
    --depth_;
    set += "]";
    return conditions.empty() ? set : "(?:" + conditions + set + ")";
  }

  // What follows &&: a nested class.
  std::string operand() {
    if (at_ >= in_.size() || in_[at_] != '[') fail("&& must be followed by a class in brackets");
    return bracket();
  }

  std::string class_item() {
    if (in_[at_] == '[') {
      if (in_.substr(at_, 2) != "[:") fail("a class inside a class is not supported");
      const std::size_t close = in_.find(":]", at_);
      if (close == std::string_view::npos) fail("[: is not closed");
      const std::string out(in_.substr(at_, close + 2 - at_));
      at_ = close + 2;
      return out;
    }
    if (in_[at_] != '\\') return std::string(1, in_[at_++]);
    const char kind = at_ + 1 < in_.size() ? in_[at_ + 1] : '\0';
    std::string_view replaced;
    if (kind == 's') replaced = kSpaceSet;
    if (kind == 'w') replaced = kWordSet;
    if (kind == 'h') replaced = "0-9A-Fa-f";
    if (replaced.empty()) return plain_escape(kind);
    at_ += 2;
    return std::string(replaced);
  }

  // Ruby reads {n,m}+ and {n}? as a quantifier of a quantifier, PCRE2 as possessive and lazy: the
  // inner one gets a group. False if the brace begins no interval.
  bool interval() {
    std::size_t close = at_ + 1;
    while (close < in_.size() &&
           (std::isdigit(static_cast<unsigned char>(in_[close])) != 0 || in_[close] == ',')) {
      ++close;
    }
    if (close >= in_.size() || in_[close] != '}' || close == at_ + 1) return false;
    std::string body(in_.substr(at_ + 1, close - at_ - 1));
    const bool exact = body.find(',') == std::string::npos;
    if (body.starts_with(',')) body = "0" + body;
    out_ += "{" + body + "}";
    at_ = close + 1;
    const char next = at_ < in_.size() ? in_[at_] : '\0';
    if (next == '+' || (exact && next == '?')) {
      out_.insert(atom_, "(?:");
      out_ += ")";
      out_ += in_[at_++];
    }
    return true;
  }

  void comment() {
    const std::size_t close = in_.find(')', at_);
    if (close == std::string_view::npos) fail("a comment is not closed");
    at_ = close + 1;
  }

  std::string_view in_;
  std::string_view subject_;
  std::size_t at_ = 0;
  int depth_ = 0;
  std::size_t atom_ = 0;             // where in out_ the last atom begins
  std::vector<std::size_t> groups_;  // where in out_ the open groups begin
  std::string out_;
};

}  // namespace

std::string pcre_pattern(std::string_view pattern, std::string_view subject) {
  return Translator(pattern, subject).run();
}

std::string escaped_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (std::string_view("\\^$.|?*+()[]{}-#&~ ").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace quire
