// SPDX-License-Identifier: Apache-2.0
// What follows an operand (attributes, subscripts, calls, filters, tests), and assignment targets.
#include <algorithm>
#include <set>

#include "text/jinja/parser.h"

namespace quire::jinja {

ExprPtr Parser::parse_postfix(ExprPtr expr) {
  for (;;) {
    if (at_operator(".") || at_operator("[")) {
      expr = parse_subscript(std::move(expr));
    } else if (at_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_filters_and_tests(ExprPtr expr) {
  for (;;) {
    if (at_operator("|")) {
      expr = parse_filter(std::move(expr));
    } else if (at_name("is")) {
      expr = parse_test(std::move(expr));
    } else if (at_operator("(")) {
      expr = parse_call(std::move(expr));
    } else {
      return expr;
    }
  }
}

ExprPtr Parser::parse_subscript(ExprPtr object) {
  const Token token = take();
  const int depth = object->depth;
  if (token.text == ".") {
    const Token name = take();
    if (name.kind == TokenKind::kName) {
      return finish(std::make_unique<AttributeExpr>(token.line, std::move(object), name.text),
                    depth);
    }
    if (name.kind != TokenKind::kInteger) fail_at(name.line, "expected name or number");
    return finish(std::make_unique<ItemExpr>(token.line, std::move(object),
                                             std::make_unique<ConstExpr>(name.line, name.number)),
                  depth);
  }
  auto indices = std::make_unique<SeriesExpr>(ExprKind::kTuple, token.line);
  int deepest_index = 0;
  while (!at_operator("]")) {
    if (!indices->items.empty()) expect_operator(",");
    indices->items.push_back(parse_index());
    deepest_index = std::max(deepest_index, indices->items.back()->depth);
  }
  expect_operator("]");
  ExprPtr index;
  if (indices->items.size() == 1) {
    index = std::move(indices->items.front());
  } else {
    index = finish(std::move(indices), deepest_index);
  }
  const int deeper = std::max(depth, index->depth);
  return finish(std::make_unique<ItemExpr>(token.line, std::move(object), std::move(index)),
                deeper);
}

ExprPtr Parser::parse_index() {
  const int line = current_.line;
  ExprPtr start;
  if (!at_operator(":")) {
    start = parse_expression();
    if (!at_operator(":")) return start;
  }
  take();
  auto slice = std::make_unique<SliceExpr>(line);
  slice->start = std::move(start);
  const auto ends = [this] { return at_operator(":") || at_operator("]") || at_operator(","); };
  if (!ends()) slice->stop = parse_expression();
  if (skip_operator(":") && !at_operator("]") && !at_operator(",")) {
    slice->step = parse_expression();
  }
  int depth = 0;
  for (const ExprPtr* part : {&slice->start, &slice->stop, &slice->step}) {
    if (*part != nullptr) depth = std::max(depth, (*part)->depth);
  }
  return finish(std::move(slice), depth);
}

CallArguments Parser::parse_arguments() {
  CallArguments arguments;
  const int line = current_.line;
  expect_operator("(");
  bool comma = false;
  while (!at_operator(")")) {
    if (comma) {
      expect_operator(",");
      if (at_operator(")")) break;
    }
    parse_argument(arguments, line);
    comma = true;
  }
  expect_operator(")");
  std::set<std::string_view> names;
  for (const auto& [name, value] : arguments.keywords) {
    if (!names.insert(name).second) fail_at(line, "keyword argument repeated: " + name);
  }
  return arguments;
}

void Parser::parse_argument(CallArguments& arguments, int line) {
  const auto ensure = [&](bool ok) {
    if (!ok) fail_at(line, "invalid syntax for function call expression");
  };
  if (skip_operator("*")) {
    ensure(arguments.more_positional == nullptr && arguments.more_keywords == nullptr);
    arguments.more_positional = parse_expression();
  } else if (skip_operator("**")) {
    ensure(arguments.more_keywords == nullptr);
    arguments.more_keywords = parse_expression();
  } else if (at(TokenKind::kName) && look().kind == TokenKind::kOperator && look().text == "=") {
    ensure(arguments.more_keywords == nullptr);
    const std::string key = take().text;
    take();
    arguments.keywords.emplace_back(key, parse_expression());
  } else {
    ensure(arguments.more_positional == nullptr && arguments.more_keywords == nullptr &&
           arguments.keywords.empty());
    arguments.positional.push_back(parse_expression());
  }
}

ExprPtr Parser::parse_call(ExprPtr callee) {
  auto call = std::make_unique<CallExpr>(current_.line);
  call->callee = std::move(callee);
  call->arguments = parse_arguments();
  const int depth = std::max(call->callee->depth, deepest(call->arguments));
  return finish(std::move(call), depth);
}

std::string Parser::parse_dotted_name() {
  std::string name = expect_identifier();
  while (skip_operator(".")) name += "." + expect_identifier();
  return name;
}

// A chain of filters; without an operand for a block, and `inside` the tag of a filter block the
// first has no bar.
ExprPtr Parser::parse_filter(ExprPtr operand, bool inside) {
  ExprPtr expr = std::move(operand);
  while (inside || at_operator("|")) {
    if (!inside) take();
    inside = false;
    auto filter = std::make_unique<ApplyExpr>(ExprKind::kFilter, current_.line);
    filter->name = parse_dotted_name();
    if (at_operator("(")) filter->arguments = parse_arguments();
    note_unknown(filter->name, true, filter->line);
    filter->operand = std::move(expr);
    const int depth = std::max(filter->operand == nullptr ? 0 : filter->operand->depth,
                               deepest(filter->arguments));
    expr = finish(std::move(filter), depth);
  }
  return expr;
}

// `x is divisibleby 3` needs no parentheses.
bool Parser::at_test_argument() const {
  if (at_name("else") || at_name("or") || at_name("and")) return false;
  return at(TokenKind::kName) || at(TokenKind::kString) || at(TokenKind::kInteger) ||
         at(TokenKind::kFloat) || at_operator("[") || at_operator("{");
}

ExprPtr Parser::parse_test(ExprPtr operand) {
  const int line = take().line;
  const bool negated = skip_name("not");
  auto test = std::make_unique<ApplyExpr>(ExprKind::kTest, line);
  test->name = parse_dotted_name();
  if (at_operator("(")) {
    test->arguments = parse_arguments();
  } else if (at_test_argument()) {
    if (at_name("is")) fail_at(current_.line, "You cannot chain multiple tests with is");
    test->arguments.positional.push_back(parse_postfix(parse_primary()));
  }
  note_unknown(test->name, false, line);
  test->operand = std::move(operand);
  const int depth = std::max(test->operand->depth, deepest(test->arguments));
  ExprPtr expr = finish(std::move(test), depth);
  if (!negated) return expr;
  return finish(std::make_unique<UnaryExpr>(line, UnaryOp::kNot, std::move(expr)), depth + 1);
}

Target Parser::name_target() {
  Target target;
  const int line = current_.line;
  const std::string name = expect_identifier();
  if (name == "true" || name == "false" || name == "none" || name == "True" || name == "False" ||
      name == "None") {
    fail_at(line, "can't assign to '" + name + "'");
  }
  target.name = intern(name);
  return target;
}

Target Parser::to_target(const Expr& expr) const {
  Target target;
  if (expr.kind == ExprKind::kName) {
    target.name = static_cast<const NameExpr&>(expr).name;
    return target;
  }
  if (expr.kind != ExprKind::kTuple) fail_at(expr.line, "can't assign to this expression");
  target.of = Target::Of::kTuple;
  for (const ExprPtr& item : static_cast<const SeriesExpr&>(expr).items) {
    target.parts.push_back(to_target(*item));
  }
  return target;
}

Target Parser::parse_target_part(bool with_namespace) {
  if (!at(TokenKind::kName)) return to_target(*parse_primary());
  Target target = name_target();
  if (with_namespace && skip_operator(".")) {
    target.of = Target::Of::kNamespace;
    target.attribute = expect_identifier();
  }
  return target;
}

// Names with commas between them.
Target Parser::parse_target(bool with_namespace) {
  const int line = current_.line;
  Target tuple;
  tuple.of = Target::Of::kTuple;
  bool comma = false;
  for (;;) {
    if (!tuple.parts.empty()) expect_operator(",");
    if (at_tuple_end()) break;
    tuple.parts.push_back(parse_target_part(with_namespace));
    if (!at_operator(",")) break;
    comma = true;
  }
  if (comma) return tuple;
  if (tuple.parts.empty()) {
    fail_at(line, "expected an expression, got '" + describe(current_) + "'");
  }
  return std::move(tuple.parts.front());
}

void Parser::check_store(const Target& target, int line) const {
  if (target.of == Target::Of::kTuple) {
    for (const Target& part : target.parts) check_store(part, line);
  } else if (target.of == Target::Of::kName && context_.loops > 0 &&
             template_->names[static_cast<std::size_t>(target.name)] == "loop") {
    fail_at(line, "Can't assign to special loop variable in for-loop target");
  }
}

}  // namespace quire::jinja
