// SPDX-License-Identifier: Apache-2.0
// Expressions.
#include <set>

#include "text/jinja/interpreter.h"
#include "text/jinja/operators.h"

namespace quire::jinja {
namespace {

bool compare(CompareOp op, const Value& a, const Value& b) {
  switch (op) {
    case CompareOp::kEqual:
      return equal(a, b);
    case CompareOp::kNotEqual:
      return !equal(a, b);
    case CompareOp::kLess:
      return less(a, b, "<");
    case CompareOp::kGreater:
      return less(b, a, ">");
    // Not the negation of >: comparisons with NaN are all false.
    case CompareOp::kLessEqual:
      return less(a, b, "<=") || equal(a, b);
    case CompareOp::kGreaterEqual:
      return less(b, a, ">=") || equal(a, b);
    case CompareOp::kIn:
      return contains(b, a);
    case CompareOp::kNotIn:
      return !contains(b, a);
  }
  return false;
}

}  // namespace

Value Interpreter::evaluate(const Expr& expr) {
  const Nested nested;
  budget_.step();
  switch (expr.kind) {
    case ExprKind::kConst:
      return static_cast<const ConstExpr&>(expr).value;
    case ExprKind::kName:
      return evaluate_name(static_cast<const NameExpr&>(expr));
    case ExprKind::kList:
    case ExprKind::kTuple:
      return evaluate_series(static_cast<const SeriesExpr&>(expr));
    case ExprKind::kConcat:
      return evaluate_concat(static_cast<const SeriesExpr&>(expr));
    case ExprKind::kDict:
      return evaluate_dict(static_cast<const DictExpr&>(expr));
    case ExprKind::kUnary:
      return evaluate_unary(static_cast<const UnaryExpr&>(expr));
    case ExprKind::kBinary:
      return evaluate_binary(static_cast<const BinaryExpr&>(expr));
    case ExprKind::kLogic:
      return evaluate_logic(static_cast<const LogicExpr&>(expr));
    case ExprKind::kCompare:
      return evaluate_compare(static_cast<const CompareExpr&>(expr));
    case ExprKind::kAttribute: {
      const auto& attribute_expr = static_cast<const AttributeExpr&>(expr);
      return attribute(evaluate(*attribute_expr.object), attribute_expr.name);
    }
    case ExprKind::kItem:
      return evaluate_item(static_cast<const ItemExpr&>(expr));
    case ExprKind::kSlice:
      type_error("a slice can only stand alone in a subscript");
    case ExprKind::kCall:
      return evaluate_call(static_cast<const CallExpr&>(expr));
    case ExprKind::kFilter:
      return evaluate_filter(static_cast<const ApplyExpr&>(expr));
    case ExprKind::kTest:
      return evaluate_test(static_cast<const ApplyExpr&>(expr));
    case ExprKind::kConditional:
      return evaluate_conditional(static_cast<const ConditionalExpr&>(expr));
  }
  return {};
}

Value Interpreter::evaluate_name(const NameExpr& expr) {
  if (const Value* value = scope_->find(expr.name)) return *value;
  const auto& given = base_[static_cast<std::size_t>(expr.name)];
  if (given) return *given;
  return Value::undefined(
      to_repr(Value::text(template_.names[static_cast<std::size_t>(expr.name)])) + " is undefined");
}

Value Interpreter::evaluate_series(const SeriesExpr& expr) {
  List items;
  items.reserve(expr.items.size());
  for (const ExprPtr& item : expr.items) items.push_back(evaluate(*item));
  return expr.kind == ExprKind::kList ? Value::list(std::move(items))
                                      : Value::tuple(std::move(items));
}

Value Interpreter::evaluate_concat(const SeriesExpr& expr) {
  List items;
  items.reserve(expr.items.size());
  for (const ExprPtr& item : expr.items) items.push_back(evaluate(*item));
  bool markup = false;
  if (autoescape_) {
    for (const Value& item : items) markup = markup || item.is_markup();
  }
  std::string joined;
  for (const Value& item : items) {
    const std::string text = markup ? escape(item).as_string() : to_text(item);
    check_size(joined.size() + text.size(), 1);
    joined += text;
  }
  return Value::text(std::move(joined), markup);
}

Value Interpreter::evaluate_dict(const DictExpr& expr) {
  auto dict = make_dict();
  for (const auto& [key, value] : expr.items) {
    const Value k = evaluate(*key);
    dict->set(k, evaluate(*value));
  }
  return dict_value(std::move(dict));
}

Value Interpreter::evaluate_unary(const UnaryExpr& expr) {
  const Value operand = evaluate(*expr.operand);
  switch (expr.op) {
    case UnaryOp::kNot:
      return Value::boolean(!truthy(operand));
    case UnaryOp::kMinus:
      return negate(operand);
    case UnaryOp::kPlus:
      break;
  }
  return positive(operand);
}

Value Interpreter::evaluate_binary(const BinaryExpr& expr) {
  const Value left = evaluate(*expr.left);
  return binary(expr.op, left, evaluate(*expr.right));
}

Value Interpreter::evaluate_logic(const LogicExpr& expr) {
  Value left = evaluate(*expr.left);
  if (truthy(left) != expr.conjunction) return left;
  return evaluate(*expr.right);
}

Value Interpreter::evaluate_compare(const CompareExpr& expr) {
  Value left = evaluate(*expr.first);
  for (const auto& [op, operand] : expr.rest) {
    Value right = evaluate(*operand);
    if (!compare(op, left, right)) return Value::boolean(false);
    left = std::move(right);
  }
  return Value::boolean(true);
}

Value Interpreter::evaluate_item(const ItemExpr& expr) {
  const Value object = evaluate(*expr.object);
  if (expr.index->kind != ExprKind::kSlice) return item(object, evaluate(*expr.index));
  const auto& bounds = static_cast<const SliceExpr&>(*expr.index);
  const auto bound = [this](const ExprPtr& e) {
    return e == nullptr ? Value::none() : evaluate(*e);
  };
  const Value start = bound(bounds.start);
  const Value stop = bound(bounds.stop);
  return slice(object, start, stop, bound(bounds.step));
}

Arguments Interpreter::evaluate_arguments(const CallArguments& arguments) {
  Arguments result;
  for (const ExprPtr& e : arguments.positional) result.positional.push_back(evaluate(*e));
  for (const auto& [key, e] : arguments.keywords) result.keywords.emplace_back(key, evaluate(*e));
  if (arguments.more_positional != nullptr) {
    for (Value& v : to_list(evaluate(*arguments.more_positional))) {
      result.positional.push_back(std::move(v));
    }
  }
  if (arguments.more_keywords != nullptr) {
    const Value more = evaluate(*arguments.more_keywords);
    if (!more.is_dict()) type_error("argument after ** must be a mapping, not " + type_name(more));
    std::set<std::string_view> names;
    for (const auto& [name, e] : arguments.keywords) names.insert(name);
    for (const auto& [key, value] : more.as_dict().items) {
      charge_steps(1);
      if (!key.is_text()) type_error("keywords must be strings");
      if (names.contains(key.as_string())) {
        type_error("got multiple values for keyword argument '" + key.as_string() + "'");
      }
      result.keywords.emplace_back(key.as_string(), value);
    }
  }
  return result;
}

Value Interpreter::evaluate_call(const CallExpr& expr, Value caller) {
  const Value callee = evaluate(*expr.callee);
  Arguments arguments = evaluate_arguments(expr.arguments);
  if (!caller.is_none()) arguments.keywords.emplace_back("caller", std::move(caller));
  line_ = expr.line;
  return call(callee, std::move(arguments));
}

Value Interpreter::call(const Value& callee, Arguments arguments) {
  if (callee.is_undefined()) fail_undefined(callee);
  if (callee.object() == nullptr || !callee.object()->callable()) {
    type_error("'" + type_name(callee) + "' object is not callable");
  }
  const std::shared_ptr<Object> alive = callee.object();
  return alive->call(*this, std::move(arguments));
}

Value Interpreter::evaluate_filter(const ApplyExpr& expr, const Value* block) {
  Value input;
  if (expr.operand != nullptr) {
    // Of the filters of a block, the innermost has no operand of its own.
    input = block != nullptr ? evaluate_filter(static_cast<const ApplyExpr&>(*expr.operand), block)
                             : evaluate(*expr.operand);
  } else if (block != nullptr) {
    input = *block;
  }
  return filter(expr.name, input, evaluate_arguments(expr.arguments));
}

Value Interpreter::evaluate_test(const ApplyExpr& expr) {
  const Value input = evaluate(*expr.operand);
  return Value::boolean(test(expr.name, input, evaluate_arguments(expr.arguments)));
}

Value Interpreter::filter(std::string_view name, const Value& input, Arguments arguments) {
  const FilterFunction function = find_filter(name);
  if (function == nullptr) {
    fail(FailureKind::kRuntime, "no filter named '" + std::string(name) + "' found");
  }
  return function(*this, input, std::move(arguments));
}

bool Interpreter::test(std::string_view name, const Value& input, Arguments arguments) {
  const TestFunction function = find_test(name);
  if (function == nullptr) {
    fail(FailureKind::kRuntime, "no test named '" + std::string(name) + "' found");
  }
  return function(*this, input, std::move(arguments));
}

Value Interpreter::evaluate_conditional(const ConditionalExpr& expr) {
  if (truthy(evaluate(*expr.test))) return evaluate(*expr.then);
  if (expr.otherwise != nullptr) return evaluate(*expr.otherwise);
  return Value::undefined("the inline if-expression on line " + std::to_string(expr.line) +
                          " evaluated to false and no else section was defined");
}

}  // namespace quire::jinja
