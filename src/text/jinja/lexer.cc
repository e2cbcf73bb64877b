// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/lexer.h"

#include <algorithm>
#include <cstdlib>

#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

bool ascii_digit(char c) { return c >= '0' && c <= '9'; }

std::string normalize_lines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out.push_back(source[i]);
      continue;
    }
    out.push_back('\n');
    if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
  }
  if (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

std::string without_underscores(std::string_view digits) {
  std::string out(digits);
  out.erase(std::remove(out.begin(), out.end(), '_'), out.end());
  return out;
}

}  // namespace

std::string describe(const Token& token) {
  switch (token.kind) {
    case TokenKind::kData:
      return "template data / text";
    case TokenKind::kVariableBegin:
      return "begin of print statement";
    case TokenKind::kVariableEnd:
      return "end of print statement";
    case TokenKind::kBlockBegin:
      return "begin of statement block";
    case TokenKind::kBlockEnd:
      return "end of statement block";
    case TokenKind::kString:
      return "string";
    case TokenKind::kInteger:
      return "integer";
    case TokenKind::kFloat:
      return "float";
    case TokenKind::kEnd:
      return "end of template";
    default:
      return token.text;
  }
}

Lexer::Lexer(std::string_view source) : source_(normalize_lines(source)) {}

Token Lexer::next() {
  while (at_ < source_.size()) {
    if (auto token = state_ == State::kText ? text_token() : tag_token()) return std::move(*token);
  }
  Token end;
  end.line = line_;
  return end;
}

void Lexer::fail_here(const std::string& message) const {
  Failure failure(FailureKind::kSyntax, message);
  failure.line = line_;
  throw failure;
}

bool Lexer::starts(std::size_t at, std::string_view what) const {
  return std::string_view(source_).substr(std::min(at, source_.size())).starts_with(what);
}

void Lexer::advance(std::size_t to) {
  if (to == at_) return;
  line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                       source_.begin() + static_cast<std::ptrdiff_t>(to), '\n'));
  line_start_ = source_[to - 1] == '\n';
  at_ = to;
}

std::size_t Lexer::skip_space(std::size_t at) const {
  while (at < source_.size()) {
    std::size_t after = at;
    if (!is_space(next_code_point(source_, after))) break;
    at = after;
  }
  return at;
}

// The end of `{% raw %}` that begins at `at`, if one does.
std::optional<std::size_t> Lexer::raw_opening(std::size_t at) const {
  at += 2;
  if (starts(at, "-") || starts(at, "+")) ++at;
  at = skip_space(at);
  if (!starts(at, "raw")) return std::nullopt;
  at = skip_space(at + 3);
  if (starts(at, "-%}")) return skip_space(at + 3);
  if (starts(at, "%}")) return at + 2;
  return std::nullopt;
}

std::optional<Lexer::Opening> Lexer::find_opening(std::size_t from) const {
  for (std::size_t at = source_.find('{', from); at != std::string::npos;
       at = source_.find('{', at + 1)) {
    const char what = at + 1 < source_.size() ? source_[at + 1] : '\0';
    if (what != '{' && what != '%' && what != '#') continue;
    const char next = at + 2 < source_.size() ? source_[at + 2] : '\0';
    const char sign = next == '-' || next == '+' ? next : '\0';
    if (what == '%') {
      if (const auto end = raw_opening(at)) return Opening{at, *end, 'r', sign};
    }
    return Opening{at, at + 2 + (sign != '\0' ? 1 : 0), what, sign};
  }
  return std::nullopt;
}

// `text` without the white space that the tag behind it takes away.
std::string_view Lexer::stripped(std::string_view text, char sign, bool variable) const {
  if (sign == '-') {
    std::size_t end = 0;
    for (std::size_t at = 0; at < text.size();) {
      if (!is_space(next_code_point(text, at))) end = at;
    }
    return text.substr(0, end);
  }
  if (sign == '+' || variable) return text;
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string_view::npos && !line_start_) return text;
  const std::size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  for (std::size_t at = begin; at < text.size();) {
    if (!is_space(next_code_point(text, at))) return text;
  }
  return text.substr(0, begin);
}

std::optional<Token> Lexer::text_token() {
  const auto opening = find_opening(at_);
  if (!opening) {
    Token data{TokenKind::kData, line_, source_.substr(at_)};
    advance(source_.size());
    return data;
  }
  if (opening->at > at_) {
    const std::string_view text = stripped(std::string_view(source_).substr(at_, opening->at - at_),
                                           opening->sign, opening->what == '{');
    Token data{TokenKind::kData, line_, std::string(text)};
    advance(opening->at);
    if (!data.text.empty()) return data;
  }
  Token token{TokenKind::kVariableBegin, line_};
  advance(opening->end);
  switch (opening->what) {
    case '#':
      skip_comment();
      return std::nullopt;
    case 'r':
      return raw_text();
    case '{':
      state_ = State::kVariable;
      return token;
    default:
      state_ = State::kBlock;
      token.kind = TokenKind::kBlockBegin;
      return token;
  }
}

// Like the reference, takes an opening tag at the very end of the source for nothing at all.
void Lexer::skip_comment() {
  if (at_ == source_.size()) return;
  const std::size_t end = source_.find("#}", at_);
  if (end == std::string::npos) fail_here("Missing end of comment tag");
  const char sign = end > at_ ? source_[end - 1] : '\0';
  std::size_t after = end + 2;
  if (sign == '-') {
    after = skip_space(after);
  } else if (sign != '+' && starts(after, "\n")) {
    ++after;
  }
  advance(after);
}

Token Lexer::raw_text() {
  for (std::size_t at = source_.find("{%", at_); at != std::string::npos;
       at = source_.find("{%", at + 1)) {
    std::size_t end = at + 2;
    const char sign = starts(end, "-") ? '-' : starts(end, "+") ? '+' : '\0';
    end = skip_space(end + (sign != '\0' ? 1 : 0));
    if (!starts(end, "endraw")) continue;
    end = skip_space(end + 6);
    if (starts(end, "-%}")) {
      end = skip_space(end + 3);
    } else if (starts(end, "+%}")) {
      end += 3;
    } else if (starts(end, "%}")) {
      end += starts(end + 2, "\n") ? 3 : 2;
    } else {
      continue;
    }
    const std::string_view text(source_.data() + at_, at - at_);
    Token data{TokenKind::kData, line_, std::string(stripped(text, sign, false))};
    advance(end);
    return data;
  }
  if (at_ == source_.size()) return {TokenKind::kData, line_};
  fail_here("Missing end of raw directive");
}

std::optional<Token> Lexer::tag_end() {
  const bool block = state_ == State::kBlock;
  const std::string_view brace = block ? "%}" : "}}";
  std::size_t end = at_;
  if (starts(at_, "-") && starts(at_ + 1, brace)) {
    end = skip_space(at_ + 3);
  } else if (block && starts(at_, "+%}")) {
    end = at_ + 3;
  } else if (starts(at_, brace)) {
    end = at_ + 2;
    if (block && starts(end, "\n")) ++end;
  } else {
    return std::nullopt;
  }
  Token token{block ? TokenKind::kBlockEnd : TokenKind::kVariableEnd, line_};
  advance(end);
  state_ = State::kText;
  return token;
}

std::optional<Token> Lexer::tag_token() {
  if (open_.empty()) {
    if (auto end = tag_end()) return end;
  }
  if (const std::size_t after = skip_space(at_); after != at_) {
    advance(after);
    return std::nullopt;
  }
  const char c = source_[at_];
  if (ascii_digit(c)) return number_token();
  if (c == '\'' || c == '"') return string_token();
  std::size_t after = at_;
  const char32_t first = next_code_point(source_, after);
  if (is_word(first) || is_identifier_part(first)) return name_token();
  return operator_token();
}

Token Lexer::name_token() {
  std::size_t end = at_;
  bool valid = true;
  for (std::size_t after = at_; after < source_.size(); end = after) {
    const char32_t c = next_code_point(source_, after);
    if (!is_word(c) && !is_identifier_part(c)) break;
    valid = valid && (end == at_ ? is_identifier_start(c) : is_identifier_part(c));
  }
  if (!valid) fail_here("Invalid character in identifier");
  Token token{TokenKind::kName, line_, source_.substr(at_, end - at_)};
  advance(end);
  return token;
}

Token Lexer::string_token() {
  const char quote = source_[at_];
  std::size_t end = at_ + 1;
  while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
  if (end >= source_.size()) {
    fail_here("unexpected char " + to_repr(Value::text(std::string(1, quote))) + " at " +
              std::to_string(at_) + ": the string is never closed");
  }
  Token token{TokenKind::kString, line_};
  try {
    token.text = unescape(std::string_view(source_).substr(at_ + 1, end - at_ - 1));
  } catch (Failure& failure) {
    failure.line = line_;
    throw;
  }
  advance(end + 1);
  return token;
}

// Digits with single underscores between them.
std::size_t Lexer::skip_digits(std::size_t at) const {
  const auto digit = [this](std::size_t i) {
    return i < source_.size() && ascii_digit(source_[i]);
  };
  while (digit(at) || (starts(at, "_") && digit(at + 1) && ascii_digit(source_[at - 1]))) ++at;
  return at;
}

bool Lexer::is_float(std::size_t at, std::size_t& end) const {
  if (at > 0 && source_[at - 1] == '.') return false;
  const auto digit = [this](std::size_t i) {
    return i < source_.size() && ascii_digit(source_[i]);
  };
  end = skip_digits(at);
  bool found = false;
  if (starts(end, ".") && digit(end + 1)) {
    end = skip_digits(end + 1);
    found = true;
  }
  if (starts(end, "e") || starts(end, "E")) {
    const std::size_t sign = starts(end + 1, "+") || starts(end + 1, "-") ? 1 : 0;
    if (digit(end + 1 + sign)) {
      end = skip_digits(end + 1 + sign);
      found = true;
    }
  }
  return found;
}

Token Lexer::number_token() {
  Token token{TokenKind::kInteger, line_};
  std::size_t end = at_;
  if (is_float(at_, end)) {
    token.kind = TokenKind::kFloat;
    const std::string digits = without_underscores({source_.data() + at_, end - at_});
    token.number = Value::number(std::strtod(digits.c_str(), nullptr));
    advance(end);
    return token;
  }
  const char kind = at_ + 1 < source_.size() ? static_cast<char>(source_[at_ + 1] | 0x20) : '\0';
  const int base = source_[at_] != '0' ? 10
                   : kind == 'x'       ? 16
                   : kind == 'o'       ? 8
                   : kind == 'b'       ? 2
                                       : 10;
  const auto digit = [&](std::size_t i) {
    return i < source_.size() && BigInt::parse({&source_[i], 1}, base).has_value();
  };
  std::size_t begin = at_;
  if (base != 10 && (digit(at_ + 2) || (starts(at_ + 2, "_") && digit(at_ + 3)))) begin = at_ + 2;
  end = begin;
  if (base == 10 || begin == at_) {
    // A decimal; after a leading zero only zeros go on.
    const bool zero = source_[at_] == '0';
    end = at_ + 1;
    const auto goes_on = [&](std::size_t i) {
      return i < source_.size() && (zero ? source_[i] == '0' : ascii_digit(source_[i]));
    };
    while (goes_on(end) || (starts(end, "_") && goes_on(end + 1))) ++end;
  } else {
    while (digit(end) || (starts(end, "_") && digit(end + 1))) ++end;
  }
  const std::string digits = without_underscores({source_.data() + begin, end - begin});
  if (digits.size() > BigInt::kMaxDigits) {
    fail_here("an integer of more than " + std::to_string(BigInt::kMaxDigits) + " digits");
  }
  token.number = Value::integer(*BigInt::parse(digits, begin == at_ ? 10 : base));
  advance(end);
  return token;
}

Token Lexer::operator_token() {
  static constexpr std::string_view kTwo[] = {"//", "**", "==", "!=", ">=", "<="};
  static constexpr std::string_view kOne = "+-/*%~[](){}><=.:|,;";
  std::size_t size = 0;
  for (const std::string_view two : kTwo) {
    if (starts(at_, two)) size = 2;
  }
  if (size == 0 && kOne.find(source_[at_]) != std::string_view::npos) size = 1;
  if (size == 0) {
    std::size_t after = at_;
    next_code_point(source_, after);
    fail_here("unexpected char " + to_repr(Value::text(source_.substr(at_, after - at_))) + " at " +
              std::to_string(at_));
  }
  Token token{TokenKind::kOperator, line_, source_.substr(at_, size)};
  const char c = size == 1 ? source_[at_] : '\0';
  if (c == '{') open_.push_back('}');
  if (c == '(') open_.push_back(')');
  if (c == '[') open_.push_back(']');
  if (c == '}' || c == ')' || c == ']') {
    if (open_.empty()) fail_here("unexpected '" + token.text + "'");
    if (open_.back() != c) {
      fail_here("unexpected '" + token.text + "', expected '" + open_.substr(open_.size() - 1) +
                "'");
    }
    open_.pop_back();
  }
  advance(at_ + size);
  return token;
}

}  // namespace quire::jinja
