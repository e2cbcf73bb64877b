// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace quire::jinja {

enum class TokenKind : std::uint8_t {
  kData,           // text between tags
  kVariableBegin,  // {{
  kVariableEnd,
  kBlockBegin,  // {%
  kBlockEnd,
  kName,
  kString,
  kInteger,
  kFloat,
  kOperator,
  kEnd,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  int line = 1;
  std::string text = {};  // data, name, operator, or a string's value
  Value number = {};
};

// A token as error messages name it.
std::string describe(const Token& token);

// Splits a template into tokens, with the white space rules of trim_blocks and lstrip_blocks, the
// signs - and + of tags, raw blocks and comments resolved. Line ends become \n and one at the end
// of the source is dropped.
class Lexer {
 public:
  explicit Lexer(std::string_view source);

  // kEnd at the end, and from then on. Throws Failure kSyntax with the line.
  Token next();

 private:
  enum class State : std::uint8_t { kText, kVariable, kBlock };
  // A tag's beginning in the text.
  struct Opening {
    std::size_t at;  // of the first brace
    std::size_t end;
    char what;  // '{', '%', '#', or 'r' for a raw block
    char sign;  // '-', '+' or 0
  };

  std::optional<Token> text_token();
  std::optional<Token> tag_token();
  std::optional<Token> tag_end();
  std::optional<Opening> find_opening(std::size_t from) const;
  std::optional<std::size_t> raw_opening(std::size_t at) const;
  std::string_view stripped(std::string_view text, char sign, bool variable) const;
  void skip_comment();
  Token raw_text();
  Token string_token();
  Token number_token();
  Token operator_token();
  Token name_token();
  bool is_float(std::size_t at, std::size_t& end) const;
  std::size_t skip_space(std::size_t at) const;
  std::size_t skip_digits(std::size_t at) const;
  bool starts(std::size_t at, std::string_view what) const;
  void advance(std::size_t to);
  [[noreturn]] void fail_here(const std::string& message) const;

  std::string source_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_start_ = true;  // what was read last ended a line
  State state_ = State::kText;
  std::string open_;  // closing brackets that are still expected
};

// The value of a string literal's inside. Throws Failure kSyntax.
std::string unescape(std::string_view literal);

}  // namespace quire::jinja
