// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

// A parsed template. Names of variables are numbers: indices into Template::names.
//
// Thread-safety: immutable once parsed.
namespace quire::jinja {

using NameId = int;

enum class ExprKind : std::uint8_t {
  kConst,
  kName,
  kList,
  kTuple,
  kDict,
  kUnary,
  kBinary,
  kLogic,
  kConcat,
  kCompare,
  kAttribute,
  kItem,
  kSlice,
  kCall,
  kFilter,
  kTest,
  kConditional,
};

struct Expr {
  Expr(ExprKind k, int l) : kind(k), line(l) {}
  virtual ~Expr() = default;
  Expr(const Expr&) = delete;
  Expr& operator=(const Expr&) = delete;

  ExprKind kind;
  int line;
  int depth = 1;  // levels of expressions within, this one included
};

using ExprPtr = std::unique_ptr<Expr>;

struct ConstExpr : Expr {
  ConstExpr(int l, Value v) : Expr(ExprKind::kConst, l), value(std::move(v)) {}
  Value value;
};

struct NameExpr : Expr {
  NameExpr(int l, NameId n) : Expr(ExprKind::kName, l), name(n) {}
  NameId name;
};

// A list, a tuple, or parts joined by ~.
struct SeriesExpr : Expr {
  using Expr::Expr;
  std::vector<ExprPtr> items;
};

struct DictExpr : Expr {
  explicit DictExpr(int l) : Expr(ExprKind::kDict, l) {}
  std::vector<std::pair<ExprPtr, ExprPtr>> items;
};

enum class UnaryOp : std::uint8_t { kNot, kMinus, kPlus };

struct UnaryExpr : Expr {
  UnaryExpr(int l, UnaryOp o, ExprPtr e)
      : Expr(ExprKind::kUnary, l), op(o), operand(std::move(e)) {}
  UnaryOp op;
  ExprPtr operand;
};

enum class BinaryOp : std::uint8_t {
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kFloorDivide,
  kModulo,
  kPower,
};

struct BinaryExpr : Expr {
  BinaryExpr(int l, BinaryOp o, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kBinary, l), op(o), left(std::move(a)), right(std::move(b)) {}
  BinaryOp op;
  ExprPtr left;
  ExprPtr right;
};

struct LogicExpr : Expr {
  LogicExpr(int l, bool is_and, ExprPtr a, ExprPtr b)
      : Expr(ExprKind::kLogic, l), conjunction(is_and), left(std::move(a)), right(std::move(b)) {}
  bool conjunction;
  ExprPtr left;
  ExprPtr right;
};

enum class CompareOp : std::uint8_t {
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kIn,
  kNotIn,
};

struct CompareExpr : Expr {
  explicit CompareExpr(int l) : Expr(ExprKind::kCompare, l) {}
  ExprPtr first;
  std::vector<std::pair<CompareOp, ExprPtr>> rest;
};

struct AttributeExpr : Expr {
  AttributeExpr(int l, ExprPtr o, std::string n)
      : Expr(ExprKind::kAttribute, l), object(std::move(o)), name(std::move(n)) {}
  ExprPtr object;
  std::string name;
};

struct ItemExpr : Expr {
  ItemExpr(int l, ExprPtr o, ExprPtr i)
      : Expr(ExprKind::kItem, l), object(std::move(o)), index(std::move(i)) {}
  ExprPtr object;
  ExprPtr index;  // may be a slice
};

struct SliceExpr : Expr {
  explicit SliceExpr(int l) : Expr(ExprKind::kSlice, l) {}
  ExprPtr start;  // any of the three may be absent
  ExprPtr stop;
  ExprPtr step;
};

struct CallArguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> keywords;
  ExprPtr more_positional;  // *args
  ExprPtr more_keywords;    // **kwargs
};

struct CallExpr : Expr {
  explicit CallExpr(int l) : Expr(ExprKind::kCall, l) {}
  ExprPtr callee;
  CallArguments arguments;
};

// A filter or a test. Without an operand a filter applies to the block it belongs to.
struct ApplyExpr : Expr {
  using Expr::Expr;
  ExprPtr operand;
  std::string name;
  CallArguments arguments;
};

struct ConditionalExpr : Expr {
  explicit ConditionalExpr(int l) : Expr(ExprKind::kConditional, l) {}
  ExprPtr test;
  ExprPtr then;
  ExprPtr otherwise;  // may be absent
};

// What an assignment assigns to.
struct Target {
  enum class Of : std::uint8_t { kName, kNamespace, kTuple };
  Of of = Of::kName;
  NameId name = 0;        // the variable, or the namespace
  std::string attribute;  // of the namespace
  std::vector<Target> parts;
};

enum class StatementKind : std::uint8_t {
  kData,
  kPrint,
  kFor,
  kIf,
  kMacro,
  kCallBlock,
  kFilterBlock,
  kWith,
  kSet,
  kSetBlock,
  kBreak,
  kContinue,
  kGeneration,
  kAutoescape,
  kBlock,
  kForeign,
};

struct Statement {
  Statement(StatementKind k, int l) : kind(k), line(l) {}
  virtual ~Statement() = default;
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;

  StatementKind kind;
  int line;
};

using StatementPtr = std::unique_ptr<Statement>;
using Body = std::vector<StatementPtr>;

struct DataStatement : Statement {
  DataStatement(int l, std::string t) : Statement(StatementKind::kData, l), text(std::move(t)) {}
  std::string text;
};

struct PrintStatement : Statement {
  PrintStatement(int l, ExprPtr e) : Statement(StatementKind::kPrint, l), value(std::move(e)) {}
  ExprPtr value;
};

struct ForStatement : Statement {
  explicit ForStatement(int l) : Statement(StatementKind::kFor, l) {}
  Target target;
  ExprPtr over;
  ExprPtr test;  // may be absent
  bool recursive = false;
  Body body;
  Body otherwise;
};

struct IfStatement : Statement {
  explicit IfStatement(int l) : Statement(StatementKind::kIf, l) {}
  std::vector<std::pair<ExprPtr, Body>> branches;
  Body otherwise;
};

// The signature and body that macros and call blocks share.
struct MacroBody {
  std::string name;  // empty for a call block
  std::vector<NameId> parameters;
  std::vector<ExprPtr> defaults;  // of the last parameters
  Body body;
  bool uses_caller = false;
  bool uses_varargs = false;
  bool uses_kwargs = false;
};

struct MacroStatement : Statement {
  explicit MacroStatement(int l) : Statement(StatementKind::kMacro, l) {}
  NameId name = 0;
  MacroBody macro;
};

struct CallBlockStatement : Statement {
  explicit CallBlockStatement(int l) : Statement(StatementKind::kCallBlock, l) {}
  MacroBody macro;
  std::unique_ptr<CallExpr> call;
};

// {% filter %}, and {% set x %} with the filters behind it.
struct FilterBlockStatement : Statement {
  explicit FilterBlockStatement(int l) : Statement(StatementKind::kFilterBlock, l) {}
  ExprPtr filter;
  Body body;
};

struct WithStatement : Statement {
  explicit WithStatement(int l) : Statement(StatementKind::kWith, l) {}
  std::vector<std::pair<Target, ExprPtr>> variables;
  Body body;
};

struct SetStatement : Statement {
  explicit SetStatement(int l) : Statement(StatementKind::kSet, l) {}
  Target target;
  ExprPtr value;
};

struct SetBlockStatement : Statement {
  explicit SetBlockStatement(int l) : Statement(StatementKind::kSetBlock, l) {}
  Target target;
  ExprPtr filter;  // may be absent
  Body body;
};

struct GenerationStatement : Statement {
  explicit GenerationStatement(int l) : Statement(StatementKind::kGeneration, l) {}
  Body body;
};

struct AutoescapeStatement : Statement {
  explicit AutoescapeStatement(int l) : Statement(StatementKind::kAutoescape, l) {}
  ExprPtr enabled;
  Body body;
};

struct BlockStatement : Statement {
  explicit BlockStatement(int l) : Statement(StatementKind::kBlock, l) {}
  std::string name;
  bool scoped = false;
  bool required = false;
  Body body;
};

// include, import, from and extends: there are no other templates, so reaching one fails.
struct ForeignStatement : Statement {
  ForeignStatement(int l, std::string t)
      : Statement(StatementKind::kForeign, l), tag(std::move(t)) {}
  std::string tag;
};

struct Template {
  Body body;
  std::vector<std::string> names;
  std::vector<const BlockStatement*> blocks;
};

}  // namespace quire::jinja
