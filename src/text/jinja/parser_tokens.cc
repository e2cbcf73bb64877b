// SPDX-License-Identifier: Apache-2.0
// How the parser reads tokens, and what it says when they are not the expected ones.
#include "text/jinja/parser.h"

namespace quire::jinja {

const Token& Parser::look() {
  if (ahead_.empty()) ahead_.push_back(lexer_.next());
  return ahead_.back();
}

Token Parser::take() {
  Token token = std::move(current_);
  if (ahead_.empty()) {
    current_ = lexer_.next();
  } else {
    current_ = std::move(ahead_.back());
    ahead_.pop_back();
  }
  return token;
}

bool Parser::at_operator(std::string_view op) const {
  return current_.kind == TokenKind::kOperator && current_.text == op;
}

bool Parser::at_name(std::string_view name) const {
  return current_.kind == TokenKind::kName && current_.text == name;
}

bool Parser::skip_operator(std::string_view op) {
  if (!at_operator(op)) return false;
  take();
  return true;
}

bool Parser::skip_name(std::string_view name) {
  if (!at_name(name)) return false;
  take();
  return true;
}

void Parser::expect_operator(std::string_view op) {
  if (!skip_operator(op)) fail_expected(std::string(op));
}

void Parser::expect_name(std::string_view name) {
  if (!skip_name(name)) fail_expected(std::string(name));
}

std::string Parser::expect_identifier() {
  if (!at(TokenKind::kName)) fail_expected("name");
  return take().text;
}

void Parser::expect(TokenKind kind) {
  if (!at(kind)) fail_expected(describe(Token{kind}));
  take();
}

void Parser::fail_at(int line, const std::string& message) const {
  Failure failure(FailureKind::kSyntax, message);
  failure.line = line;
  throw failure;
}

void Parser::fail_expected(const std::string& what) const {
  if (at(TokenKind::kEnd)) {
    std::string message = "unexpected end of template, expected '" + what + "'";
    if (!tags_.empty()) message += " (in the block '" + tags_.back() + "')";
    fail_at(current_.line, message);
  }
  fail_at(current_.line, "expected '" + what + "', got '" + describe(current_) + "'");
}

std::string Parser::looked_for() const {
  std::string list;
  if (ends_.empty()) return list;
  for (const std::string_view end : ends_.back()) {
    list += (list.empty() ? "'" : " or '") + std::string(end) + "'";
  }
  return list;
}

void Parser::fail_unknown_tag(const std::string& tag, int line) const {
  std::string message = "unknown tag '" + tag + "'";
  if (const std::string list = looked_for(); !list.empty()) message += "; looking for " + list;
  if (!tags_.empty()) message += " to close the block '" + tags_.back() + "'";
  fail_at(line, message);
}

void Parser::fail_unexpected_end() const {
  std::string message = "unexpected end of template";
  if (const std::string list = looked_for(); !list.empty()) message += "; looking for " + list;
  if (!tags_.empty()) message += " to close the block '" + tags_.back() + "'";
  fail_at(current_.line, message);
}

}  // namespace quire::jinja
