// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ctime>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "text/jinja/ast.h"
#include "text/jinja/limits.h"
#include "text/jinja/value.h"

namespace quire::jinja {

using FilterFunction = Value (*)(Interpreter&, const Value& input, Arguments);
using TestFunction = bool (*)(Interpreter&, const Value& input, Arguments);

// nullptr when there is none of that name.
FilterFunction find_filter(std::string_view name);
TestFunction find_test(std::string_view name);

// Variables of one block, and the block around it. Macros keep the scope they were defined in.
class Scope final : public Object, public Cyclic, public std::enable_shared_from_this<Scope> {
 public:
  explicit Scope(std::shared_ptr<Scope> parent) : parent_(std::move(parent)) {}
  std::string type_name() const override { return "scope"; }

  const Value* find(NameId name) const;  // here or around
  void set(NameId name, Value value);    // here
  void clear() { variables_.clear(); }
  const std::shared_ptr<Scope>& parent() const { return parent_; }

  void break_cycles() override;
  std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

 private:
  std::shared_ptr<Scope> parent_;
  std::vector<std::pair<NameId, Value>> variables_;
};

// Text being made, charged to the budget as it grows.
class Output {
 public:
  ~Output();
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  void append(std::string_view text);
  std::string take();

 private:
  std::string text_;
  std::size_t charged_ = 0;
};

class LoopObject;

// Runs one render of a template.
//
// Thread-safety: one thread; the Budget it is given is the one installed there.
class Interpreter {
 public:
  Interpreter(const Template& source, Budget& budget, const Value& context, const std::tm& now);

  // Throws Failure, with the line where it is known.
  std::string render();

  // What template code and filters may do with values.
  Value attribute(const Value& object, std::string_view name);
  Value item(const Value& object, const Value& key);
  Value call(const Value& callee, Arguments arguments);
  Value filter(std::string_view name, const Value& input, Arguments arguments);
  bool test(std::string_view name, const Value& input, Arguments arguments);

  Value call_macro(const MacroBody& macro, const std::shared_ptr<Scope>& scope,
                   Arguments arguments);
  Value call_block(const BlockStatement& block);
  Value run_recursive_loop(const ForStatement& loop, const std::shared_ptr<Scope>& scope,
                           const Value& over, int depth);

  // For the test of a loop: whether the loop's target takes `value` and passes; it becomes what the
  // target holds.
  bool passes(const ForStatement& loop, const std::shared_ptr<Scope>& scope, Value& value);

  const std::tm& now() const { return now_; }
  bool autoescape() const { return autoescape_; }

 private:
  enum class Flow : std::uint8_t { kNormal, kBreak, kContinue };
  class Inside;  // makes a scope current, and an output
  class Call;    // counts a call while it runs

  Flow run(const Body& body);
  Flow run(const Statement& statement);
  Flow run_for(const ForStatement& loop);
  Flow run_loop(const ForStatement& loop, const Value& over, int depth);
  Flow run_iterations(const ForStatement& loop, const std::shared_ptr<LoopObject>& state,
                      bool& none);
  Flow run_if(const IfStatement& statement);
  Flow run_with(const WithStatement& statement);
  Flow run_filter_block(const FilterBlockStatement& statement);
  Flow run_set_block(const SetBlockStatement& statement);
  Flow run_autoescape(const AutoescapeStatement& statement);
  void run_macro(const MacroStatement& statement);
  void run_call_block(const CallBlockStatement& statement);
  void run_generation(const GenerationStatement& statement);
  void run_block(const BlockStatement& statement);
  void print(const Value& value);
  void bind_parameters(const MacroBody& macro, Arguments arguments);
  void assign(const Target& target, const Value& value);
  void assign_namespace(const Target& target, const Value& value);
  void check_namespaces(const Target& target);
  Value read(const Target& target);

  Value evaluate(const Expr& expr);
  Value evaluate_name(const NameExpr& expr);
  Value evaluate_series(const SeriesExpr& expr);
  Value evaluate_concat(const SeriesExpr& expr);
  Value evaluate_dict(const DictExpr& expr);
  Value evaluate_unary(const UnaryExpr& expr);
  Value evaluate_binary(const BinaryExpr& expr);
  Value evaluate_logic(const LogicExpr& expr);
  Value evaluate_compare(const CompareExpr& expr);
  Value evaluate_item(const ItemExpr& expr);
  Value evaluate_call(const CallExpr& expr, Value caller = Value::none());
  Value evaluate_filter(const ApplyExpr& expr, const Value* block = nullptr);
  Value evaluate_test(const ApplyExpr& expr);
  Value evaluate_conditional(const ConditionalExpr& expr);
  Arguments evaluate_arguments(const CallArguments& arguments);

  const Template& template_;
  Budget& budget_;
  std::tm now_;
  std::vector<std::optional<Value>> base_;  // the context's variables and the globals, by name
  // Variables that the language itself sets; -1 where the template never mentions them.
  struct SpecialNames {
    NameId loop = -1;
    NameId caller = -1;
    NameId varargs = -1;
    NameId kwargs = -1;
  } names_;
  std::shared_ptr<Scope> root_;
  std::shared_ptr<Scope> scope_;
  Output* output_ = nullptr;
  bool autoescape_ = false;
  int line_ = 1;
};

// The functions every template can call: range, dict, namespace, ….
std::optional<Value> find_global(std::string_view name);

}  // namespace quire::jinja
