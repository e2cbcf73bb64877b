// SPDX-License-Identifier: Apache-2.0
// The statements that reach for other templates. There are none, so they only fail when run.
#include "text/jinja/parser.h"

namespace quire::jinja {

StatementPtr Parser::parse_foreign() {
  const Token tag = take();
  if (tag.text == "extends" && !context_.top_level) {
    fail_at(tag.line, "cannot use extends from a non top-level scope");
  }
  parse_expression();
  if (tag.text == "include") {
    if (at_name("ignore") && look_is_name("missing")) {
      take();
      take();
    }
    skip_import_context();
  } else if (tag.text == "import") {
    expect_name("as");
    name_target();
    skip_import_context();
  } else if (tag.text == "from") {
    expect_name("import");
    parse_imported_names();
  }
  return std::make_unique<ForeignStatement>(tag.line, tag.text);
}

bool Parser::look_is_name(std::string_view name) {
  return look().kind == TokenKind::kName && look().text == name;
}

bool Parser::skip_import_context() {
  if ((!at_name("with") && !at_name("without")) || !look_is_name("context")) return false;
  take();
  take();
  return true;
}

void Parser::parse_imported_names() {
  for (bool first = true;; first = false) {
    if (!first) expect_operator(",");
    if (!at(TokenKind::kName)) fail_expected("name");
    if (skip_import_context()) return;
    if (current_.text.starts_with("_")) {
      fail_at(current_.line, "names starting with an underline can not be imported");
    }
    name_target();
    if (skip_name("as")) name_target();
    if (skip_import_context() || !at_operator(",")) return;
  }
}

}  // namespace quire::jinja
