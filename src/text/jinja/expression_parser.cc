// SPDX-License-Identifier: Apache-2.0
// Expressions: one function for each level of precedence, loosest first.
#include <algorithm>

#include "text/jinja/interpreter.h"
#include "text/jinja/parser.h"

namespace quire::jinja {
namespace {

int depth_of(const ExprPtr& expr) { return expr == nullptr ? 0 : expr->depth; }

// Long chains (a + b + …) nest their nodes although the parser does not recurse for them.
constexpr int kChainPerLevel = 4;

}  // namespace

ExprPtr Parser::finish(ExprPtr expr, int deepest) {
  expr->depth = deepest + 1;
  if (expr->depth > max_depth_ * kChainPerLevel) {
    fail_at(expr->line, "an expression of too many nested parts");
  }
  return expr;
}

int Parser::deepest(const CallArguments& arguments) {
  int depth = std::max(depth_of(arguments.more_positional), depth_of(arguments.more_keywords));
  for (const ExprPtr& e : arguments.positional) depth = std::max(depth, e->depth);
  for (const auto& [key, e] : arguments.keywords) depth = std::max(depth, e->depth);
  return depth;
}

NameId Parser::intern(const std::string& name) {
  const auto [it, added] = names_.emplace(name, static_cast<NameId>(template_->names.size()));
  if (added) template_->names.push_back(name);
  return it->second;
}

void Parser::note_unknown(const std::string& name, bool filter, int line) {
  if (context_.soft) return;
  if (filter ? find_filter(name) != nullptr : find_test(name) != nullptr) return;
  unknown_.emplace_back(
      line, std::string("no ") + (filter ? "filter" : "test") + " named '" + name + "'");
}

ExprPtr Parser::parse_expression(bool conditional) {
  if (++depth_ > max_depth_) {
    fail_at(current_.line,
            "an expression nested deeper than " + std::to_string(max_depth_) + " levels");
  }
  ExprPtr expr = conditional ? parse_conditional() : parse_or();
  --depth_;
  return expr;
}

ExprPtr Parser::parse_conditional() {
  const int line = current_.line;
  const std::size_t unknown_before = unknown_.size();
  ExprPtr expr = parse_or();
  while (skip_name("if")) {
    auto conditional = std::make_unique<ConditionalExpr>(line);
    conditional->then = std::move(expr);
    conditional->test = parse_or();
    if (skip_name("else")) conditional->otherwise = parse_expression();
    unknown_.resize(unknown_before);  // what is unknown fails only when reached
    const int depth = std::max({depth_of(conditional->then), depth_of(conditional->test),
                                depth_of(conditional->otherwise)});
    expr = finish(std::move(conditional), depth);
  }
  return expr;
}

ExprPtr Parser::parse_or() {
  ExprPtr left = parse_and();
  while (at_name("or")) {
    const int line = take().line;
    ExprPtr right = parse_and();
    const int depth = std::max(left->depth, right->depth);
    left =
        finish(std::make_unique<LogicExpr>(line, false, std::move(left), std::move(right)), depth);
  }
  return left;
}

ExprPtr Parser::parse_and() {
  ExprPtr left = parse_not();
  while (at_name("and")) {
    const int line = take().line;
    ExprPtr right = parse_not();
    const int depth = std::max(left->depth, right->depth);
    left =
        finish(std::make_unique<LogicExpr>(line, true, std::move(left), std::move(right)), depth);
  }
  return left;
}

ExprPtr Parser::parse_not() {
  if (!at_name("not")) return parse_compare();
  const int line = take().line;
  if (++depth_ > max_depth_) fail_at(line, "too many 'not' in a row");
  ExprPtr operand = parse_not();
  --depth_;
  const int depth = operand->depth;
  return finish(std::make_unique<UnaryExpr>(line, UnaryOp::kNot, std::move(operand)), depth);
}

bool Parser::parse_compare_operator(CompareOp& op) {
  static constexpr std::pair<std::string_view, CompareOp> kOperators[] = {
      {"==", CompareOp::kEqual},  {"!=", CompareOp::kNotEqual},
      {"<", CompareOp::kLess},    {"<=", CompareOp::kLessEqual},
      {">", CompareOp::kGreater}, {">=", CompareOp::kGreaterEqual}};
  for (const auto& [text, kind] : kOperators) {
    if (skip_operator(text)) {
      op = kind;
      return true;
    }
  }
  if (skip_name("in")) {
    op = CompareOp::kIn;
    return true;
  }
  if (at_name("not") && look().kind == TokenKind::kName && look().text == "in") {
    take();
    take();
    op = CompareOp::kNotIn;
    return true;
  }
  return false;
}

ExprPtr Parser::parse_compare() {
  const int line = current_.line;
  ExprPtr first = parse_sum();
  CompareOp op{};
  if (!parse_compare_operator(op)) return first;
  auto compare = std::make_unique<CompareExpr>(line);
  int depth = first->depth;
  compare->first = std::move(first);
  do {
    compare->rest.emplace_back(op, parse_sum());
    depth = std::max(depth, compare->rest.back().second->depth);
  } while (parse_compare_operator(op));
  return finish(std::move(compare), depth);
}

ExprPtr Parser::parse_sum() {
  ExprPtr left = parse_concat();
  while (at_operator("+") || at_operator("-")) {
    const Token op = take();
    ExprPtr right = parse_concat();
    const int depth = std::max(left->depth, right->depth);
    const BinaryOp kind = op.text == "+" ? BinaryOp::kAdd : BinaryOp::kSubtract;
    left = finish(std::make_unique<BinaryExpr>(op.line, kind, std::move(left), std::move(right)),
                  depth);
  }
  return left;
}

ExprPtr Parser::parse_concat() {
  ExprPtr first = parse_product();
  if (!at_operator("~")) return first;
  auto series = std::make_unique<SeriesExpr>(ExprKind::kConcat, current_.line);
  int depth = first->depth;
  series->items.push_back(std::move(first));
  while (skip_operator("~")) {
    series->items.push_back(parse_product());
    depth = std::max(depth, series->items.back()->depth);
  }
  return finish(std::move(series), depth);
}

ExprPtr Parser::parse_product() {
  static constexpr std::pair<std::string_view, BinaryOp> kOperators[] = {
      {"*", BinaryOp::kMultiply},
      {"/", BinaryOp::kDivide},
      {"//", BinaryOp::kFloorDivide},
      {"%", BinaryOp::kModulo}};
  ExprPtr left = parse_power();
  for (;;) {
    const auto* op = std::find_if(std::begin(kOperators), std::end(kOperators),
                                  [this](const auto& o) { return at_operator(o.first); });
    if (op == std::end(kOperators)) return left;
    const int line = take().line;
    ExprPtr right = parse_power();
    const int depth = std::max(left->depth, right->depth);
    left = finish(std::make_unique<BinaryExpr>(line, op->second, std::move(left), std::move(right)),
                  depth);
  }
}

ExprPtr Parser::parse_power() {
  ExprPtr left = parse_unary();
  while (at_operator("**")) {
    const int line = take().line;
    ExprPtr right = parse_unary();
    const int depth = std::max(left->depth, right->depth);
    left = finish(
        std::make_unique<BinaryExpr>(line, BinaryOp::kPower, std::move(left), std::move(right)),
        depth);
  }
  return left;
}

// A sign binds what follows it before any filter does: -x | f is (-x) | f.
ExprPtr Parser::parse_unary(bool with_filter) {
  ExprPtr expr;
  if (at_operator("-") || at_operator("+")) {
    const Token sign = take();
    if (++depth_ > max_depth_) fail_at(sign.line, "too many signs in a row");
    ExprPtr operand = parse_unary(false);
    --depth_;
    const int depth = operand->depth;
    const UnaryOp op = sign.text == "-" ? UnaryOp::kMinus : UnaryOp::kPlus;
    expr = finish(std::make_unique<UnaryExpr>(sign.line, op, std::move(operand)), depth);
  } else {
    expr = parse_primary();
  }
  expr = parse_postfix(std::move(expr));
  return with_filter ? parse_filters_and_tests(std::move(expr)) : std::move(expr);
}

ExprPtr Parser::parse_primary() {
  const int line = current_.line;
  if (at(TokenKind::kName)) return parse_name();
  if (at(TokenKind::kString)) return parse_string();
  if (at(TokenKind::kInteger) || at(TokenKind::kFloat)) {
    return std::make_unique<ConstExpr>(line, take().number);
  }
  if (at_operator("[")) return parse_list();
  if (at_operator("{")) return parse_dict();
  if (!skip_operator("(")) fail_at(line, "unexpected '" + describe(current_) + "'");
  ExprPtr expr = parse_tuple(true, true);
  expect_operator(")");
  return expr;
}

ExprPtr Parser::parse_name() {
  const Token name = take();
  if (name.text == "true" || name.text == "True") {
    return std::make_unique<ConstExpr>(name.line, Value::boolean(true));
  }
  if (name.text == "false" || name.text == "False") {
    return std::make_unique<ConstExpr>(name.line, Value::boolean(false));
  }
  if (name.text == "none" || name.text == "None") {
    return std::make_unique<ConstExpr>(name.line, Value::none());
  }
  for (MacroBody* macro : macros_) {
    if (name.text == "caller") macro->uses_caller = true;
    if (name.text == "varargs") macro->uses_varargs = true;
    if (name.text == "kwargs") macro->uses_kwargs = true;
  }
  return std::make_unique<NameExpr>(name.line, intern(name.text));
}

ExprPtr Parser::parse_string() {
  const int line = current_.line;
  std::string text;
  while (at(TokenKind::kString)) text += take().text;
  return std::make_unique<ConstExpr>(line, Value::text(std::move(text)));
}

bool Parser::at_tuple_end() const {
  return at(TokenKind::kVariableEnd) || at(TokenKind::kBlockEnd) || at_operator(")");
}

// Expressions with commas between them are a tuple, one without is itself.
ExprPtr Parser::parse_tuple(bool conditional, bool parentheses) {
  auto tuple = std::make_unique<SeriesExpr>(ExprKind::kTuple, current_.line);
  bool comma = false;
  int depth = 0;
  for (;;) {
    if (!tuple->items.empty()) expect_operator(",");
    if (at_tuple_end()) break;
    tuple->items.push_back(parse_expression(conditional));
    depth = std::max(depth, tuple->items.back()->depth);
    if (!at_operator(",")) break;
    comma = true;
  }
  if (!comma) {
    if (!tuple->items.empty()) return std::move(tuple->items.front());
    if (!parentheses) {
      fail_at(current_.line, "expected an expression, got '" + describe(current_) + "'");
    }
  }
  return finish(std::move(tuple), depth);
}

ExprPtr Parser::parse_list() {
  auto list = std::make_unique<SeriesExpr>(ExprKind::kList, take().line);
  int depth = 0;
  while (!at_operator("]")) {
    if (!list->items.empty()) expect_operator(",");
    if (at_operator("]")) break;
    list->items.push_back(parse_expression());
    depth = std::max(depth, list->items.back()->depth);
  }
  expect_operator("]");
  return finish(std::move(list), depth);
}

ExprPtr Parser::parse_dict() {
  auto dict = std::make_unique<DictExpr>(take().line);
  int depth = 0;
  while (!at_operator("}")) {
    if (!dict->items.empty()) expect_operator(",");
    if (at_operator("}")) break;
    ExprPtr key = parse_expression();
    expect_operator(":");
    ExprPtr value = parse_expression();
    depth = std::max({depth, key->depth, value->depth});
    dict->items.emplace_back(std::move(key), std::move(value));
  }
  expect_operator("}");
  return finish(std::move(dict), depth);
}

}  // namespace quire::jinja
