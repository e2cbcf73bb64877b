// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/parser.h"

#include <algorithm>

#include "text/jinja/methods.h"
#include "text/jinja/parser_scope.h"

namespace quire::jinja {

std::unique_ptr<const Template> parse_template(std::string_view source,
                                               const TemplateLimits& limits) {
  return Parser(source, limits).parse();
}

Parser::Parser(std::string_view source, const TemplateLimits& limits)
    : lexer_(source), max_depth_(limits.max_depth) {
  current_ = lexer_.next();
}

std::unique_ptr<Template> Parser::parse() {
  template_->body = parse_body({});
  if (!unknown_.empty()) {
    const auto first = std::min_element(unknown_.begin(), unknown_.end());
    fail_at(first->first, first->second);
  }
  return std::move(template_);
}

// Statements up to one of the tags `ends`, which is left current; up to the end of the source for
// none.
Body Parser::parse_body(const std::vector<std::string_view>& ends) {
  Body body;
  ends_.push_back(ends);
  while (!at(TokenKind::kEnd)) {
    if (at(TokenKind::kData)) {
      Token data = take();
      body.push_back(std::make_unique<DataStatement>(data.line, std::move(data.text)));
    } else if (at(TokenKind::kVariableBegin)) {
      body.push_back(parse_print());
    } else {
      expect(TokenKind::kBlockBegin);
      const auto is_current = [this](std::string_view end) { return at_name(end); };
      if (std::any_of(ends.begin(), ends.end(), is_current)) {
        ends_.pop_back();
        return body;
      }
      body.push_back(parse_statement());
      expect(TokenKind::kBlockEnd);
    }
  }
  if (!ends.empty()) fail_unexpected_end();
  ends_.pop_back();
  return body;
}

// The rest of an opening tag, and the statements it opens.
Body Parser::parse_block_body(const std::vector<std::string_view>& ends, bool drop_end) {
  skip_operator(":");
  expect(TokenKind::kBlockEnd);
  Body body = parse_body(ends);
  if (drop_end) take();
  return body;
}

StatementPtr Parser::parse_print() {
  const int line = take().line;
  ExprPtr value = parse_tuple(true);
  expect(TokenKind::kVariableEnd);
  return std::make_unique<PrintStatement>(line, std::move(value));
}

StatementPtr Parser::parse_statement() {
  if (!at(TokenKind::kName)) fail_at(current_.line, "tag name expected");
  if (++depth_ > max_depth_) {
    fail_at(current_.line, "blocks nested deeper than " + std::to_string(max_depth_) + " levels");
  }
  const int line = current_.line;
  const std::string tag = current_.text;
  tags_.push_back(tag);
  StatementPtr statement = parse_known_statement(tag);
  tags_.pop_back();
  if (statement == nullptr) fail_unknown_tag(tag, line);
  --depth_;
  return statement;
}

StatementPtr Parser::parse_known_statement(const std::string& tag) {
  if (tag == "for") return parse_for();
  if (tag == "if") return parse_if();
  if (tag == "set") return parse_set();
  if (tag == "macro") return parse_macro();
  if (tag == "call") return parse_call_block();
  if (tag == "filter") return parse_filter_block();
  if (tag == "with") return parse_with();
  if (tag == "generation") return parse_generation();
  return parse_other_statement(tag);
}

StatementPtr Parser::parse_other_statement(const std::string& tag) {
  if (tag == "break" || tag == "continue") return parse_loop_control();
  if (tag == "block") return parse_block();
  if (tag == "autoescape") return parse_autoescape();
  if (tag == "include" || tag == "import" || tag == "from" || tag == "extends") {
    return parse_foreign();
  }
  if (tag != "print") return nullptr;
  // {% print a, b %}: the parts one after another.
  const int line = take().line;
  auto parts = std::make_unique<SeriesExpr>(ExprKind::kConcat, line);
  while (!at(TokenKind::kBlockEnd)) {
    if (!parts->items.empty()) expect_operator(",");
    parts->items.push_back(parse_expression());
  }
  return std::make_unique<PrintStatement>(line, std::move(parts));
}

StatementPtr Parser::parse_for() {
  const int line = take().line;
  auto loop = std::make_unique<ForStatement>(line);
  {
    const Scope scope(*this);
    ++context_.loops;
    loop->target = parse_target(false);
    check_store(loop->target, line);
  }
  expect_name("in");
  loop->over = parse_tuple(false);
  const Scope scope(*this);
  context_.soft = false;
  context_.top_level = false;
  ++context_.loops;
  if (skip_name("if")) loop->test = parse_expression();
  loop->recursive = skip_name("recursive");
  const bool outer_loop = context_.in_loop && !loop->recursive;
  context_.in_loop = true;
  loop->body = parse_block_body({"endfor", "else"}, false);
  if (take().text == "else") {
    context_.in_loop = outer_loop;
    loop->otherwise = parse_block_body({"endfor"}, true);
  }
  return loop;
}

StatementPtr Parser::parse_if() {
  auto statement = std::make_unique<IfStatement>(current_.line);
  const Scope scope(*this);
  context_.soft = true;
  std::string tag;
  do {
    take();
    ExprPtr test = parse_tuple(false);
    Body body = parse_block_body({"elif", "else", "endif"}, false);
    statement->branches.emplace_back(std::move(test), std::move(body));
    tag = current_.text;
  } while (tag == "elif");
  take();
  if (tag == "else") statement->otherwise = parse_block_body({"endif"}, true);
  return statement;
}

StatementPtr Parser::parse_set() {
  const int line = take().line;
  Target target = parse_target(true);
  check_store(target, line);
  if (skip_operator("=")) {
    auto set = std::make_unique<SetStatement>(line);
    set->target = std::move(target);
    set->value = parse_tuple(true);
    return set;
  }
  auto set = std::make_unique<SetBlockStatement>(line);
  set->target = std::move(target);
  const Scope scope(*this);
  context_.soft = false;
  context_.top_level = false;
  set->filter = parse_filter(nullptr);
  set->body = parse_block_body({"endset"}, true);
  return set;
}

void Parser::parse_signature(MacroBody& macro) {
  expect_operator("(");
  std::set<NameId> names;
  while (!at_operator(")")) {
    if (!macro.parameters.empty()) expect_operator(",");
    const int line = current_.line;
    const NameId name = name_target().name;
    if (!names.insert(name).second) {
      fail_at(line, "duplicate argument '" + template_->names[static_cast<std::size_t>(name)] +
                        "' in a macro's definition");
    }
    macro.parameters.push_back(name);
    if (skip_operator("=")) {
      macro.defaults.push_back(parse_expression());
    } else if (!macro.defaults.empty()) {
      fail_at(line, "non-default argument follows default argument");
    }
  }
  expect_operator(")");
}

// The body sees caller, varargs and kwargs where it mentions them and no parameter has the name.
void Parser::parse_macro_body(MacroBody& macro, std::string_view end) {
  const int line = current_.line;
  macros_.push_back(&macro);
  macro.body = parse_block_body({end}, true);
  macros_.pop_back();
  for (std::size_t i = 0; i < macro.parameters.size(); ++i) {
    const std::string& name = template_->names[static_cast<std::size_t>(macro.parameters[i])];
    if (name == "varargs") macro.uses_varargs = false;
    if (name == "kwargs") macro.uses_kwargs = false;
    if (name == "caller" && macro.uses_caller &&
        i + macro.defaults.size() < macro.parameters.size()) {
      fail_at(line, "a macro's argument \"caller\" must be left out or have a default");
    }
  }
}

StatementPtr Parser::parse_macro() {
  auto statement = std::make_unique<MacroStatement>(take().line);
  statement->name = name_target().name;
  statement->macro.name = template_->names[static_cast<std::size_t>(statement->name)];
  const Scope scope(*this);
  context_ = {false, false, context_.loops, false};
  parse_signature(statement->macro);
  parse_macro_body(statement->macro, "endmacro");
  return statement;
}

StatementPtr Parser::parse_call_block() {
  const int line = take().line;
  auto statement = std::make_unique<CallBlockStatement>(line);
  if (at_operator("(")) parse_signature(statement->macro);
  ExprPtr call = parse_expression();
  if (call->kind != ExprKind::kCall) fail_at(line, "expected call");
  statement->call.reset(static_cast<CallExpr*>(call.release()));
  const Scope scope(*this);
  context_ = {false, false, context_.loops, false};
  parse_macro_body(statement->macro, "endcall");
  return statement;
}

StatementPtr Parser::parse_filter_block() {
  auto statement = std::make_unique<FilterBlockStatement>(take().line);
  const Scope scope(*this);
  context_.soft = false;
  context_.top_level = false;
  statement->filter = parse_filter(nullptr, true);
  statement->body = parse_block_body({"endfilter"}, true);
  return statement;
}

StatementPtr Parser::parse_with() {
  const int line = take().line;
  auto statement = std::make_unique<WithStatement>(line);
  while (!at(TokenKind::kBlockEnd)) {
    if (!statement->variables.empty()) expect_operator(",");
    Target target = parse_target(false);
    expect_operator("=");
    statement->variables.emplace_back(std::move(target), parse_expression());
  }
  const Scope scope(*this);
  context_.soft = false;
  context_.top_level = false;
  statement->body = parse_block_body({"endwith"}, true);
  return statement;
}

StatementPtr Parser::parse_autoescape() {
  auto statement = std::make_unique<AutoescapeStatement>(take().line);
  const Scope scope(*this);
  context_.soft = false;
  context_.top_level = false;
  statement->enabled = parse_expression();
  statement->body = parse_block_body({"endautoescape"}, true);
  return statement;
}

StatementPtr Parser::parse_generation() {
  auto statement = std::make_unique<GenerationStatement>(take().line);
  const Scope scope(*this);
  context_ = {false, false, context_.loops, false};
  statement->body = parse_block_body({"endgeneration"}, true);
  return statement;
}

StatementPtr Parser::parse_block() {
  const int line = take().line;
  auto block = std::make_unique<BlockStatement>(line);
  block->name = expect_identifier();
  block->scoped = skip_name("scoped");
  block->required = skip_name("required");
  if (!blocks_.insert(block->name).second) {
    fail_at(line, "block '" + block->name + "' defined twice");
  }
  template_->blocks.push_back(block.get());
  {
    const Scope scope(*this);
    context_ = {false, false, context_.loops, false};
    block->body = parse_block_body({"endblock"}, true);
  }
  if (at_name(block->name)) take();
  if (block->required) check_empty(*block);
  return block;
}

void Parser::check_empty(const BlockStatement& block) const {
  const auto is_blank = [](const StatementPtr& statement) {
    return statement->kind == StatementKind::kData &&
           strip(static_cast<const DataStatement&>(*statement).text, nullptr, true, true).empty();
  };
  if (!std::all_of(block.body.begin(), block.body.end(), is_blank)) {
    fail_at(block.line, "required blocks can only contain comments or white space");
  }
}

StatementPtr Parser::parse_loop_control() {
  const Token token = take();
  if (!context_.in_loop) fail_at(token.line, "'" + token.text + "' outside loop");
  return std::make_unique<Statement>(
      token.text == "break" ? StatementKind::kBreak : StatementKind::kContinue, token.line);
}

}  // namespace quire::jinja
