// SPDX-License-Identifier: Apache-2.0
// Statements.
#include "text/jinja/interpreter.h"

#include <algorithm>

#include "text/jinja/blocks.h"
#include "text/jinja/loop.h"
#include "text/jinja/operators.h"

namespace quire::jinja {

const Value* Scope::find(NameId name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent_.get()) {
    for (const auto& [id, value] : scope->variables_) {
      if (id == name) return &value;
    }
  }
  return nullptr;
}

void Scope::set(NameId name, Value value) {
  for (auto& [id, old] : variables_) {
    if (id == name) {
      old = std::move(value);
      return;
    }
  }
  variables_.emplace_back(name, std::move(value));
}

void Scope::break_cycles() { variables_.clear(); }

Output::~Output() {
  if (Budget* budget = Budget::current()) budget->release(charged_);
}

void Output::append(std::string_view text) {
  if (Budget* budget = Budget::current()) {
    budget->allocate(text.size());
    charged_ += text.size();
    budget->step(static_cast<std::int64_t>(text.size() / 64));
  }
  text_ += text;
}

std::string Output::take() {
  if (Budget* budget = Budget::current()) budget->release(charged_);
  charged_ = 0;
  return std::move(text_);
}

// Runs statements in a scope of their own, with their text kept apart when an output is given.
class Interpreter::Inside {
 public:
  Inside(Interpreter& interpreter, std::shared_ptr<Scope> scope, Output* output = nullptr)
      : interpreter_(interpreter),
        scope_(std::move(interpreter.scope_)),
        output_(interpreter.output_) {
    interpreter_.scope_ = std::move(scope);
    if (output != nullptr) interpreter_.output_ = output;
  }
  ~Inside() {
    interpreter_.scope_ = std::move(scope_);
    interpreter_.output_ = output_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  Output& outer_output() const { return *output_; }

 private:
  Interpreter& interpreter_;
  std::shared_ptr<Scope> scope_;
  Output* output_;
};

class Interpreter::Call {
 public:
  Call(Interpreter& interpreter, std::string_view what)
      : interpreter_(interpreter), line_(interpreter.line_) {
    Budget& budget = interpreter.budget_;
    if (budget.calls >= budget.limits().max_depth) {
      fail(FailureKind::kLimit, std::string(what) + " more than " +
                                    std::to_string(budget.limits().max_depth) + " levels deep");
    }
    ++budget.calls;
  }
  ~Call() { --interpreter_.budget_.calls; }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  // The caller's line is the one to blame again.
  void done() const { interpreter_.line_ = line_; }

 private:
  Interpreter& interpreter_;
  int line_;
};

Interpreter::Interpreter(const Template& source, Budget& budget, const Value& context,
                         const std::tm& now)
    : template_(source), budget_(budget), now_(now), root_(std::make_shared<Scope>(nullptr)) {
  base_.reserve(source.names.size());
  for (const std::string& name : source.names) {
    if (name == "self") {
      base_.emplace_back(Value(Kind::kOther, std::make_shared<SelfObject>(source)));
    } else if (const Value* given = context.as_dict().find(name)) {
      base_.emplace_back(*given);
    } else {
      base_.push_back(find_global(name));
    }
  }
  scope_ = root_;
  const auto id = [&source](std::string_view name) {
    const auto found = std::find(source.names.begin(), source.names.end(), name);
    return found == source.names.end() ? -1 : static_cast<NameId>(found - source.names.begin());
  };
  names_ = {id("loop"), id("caller"), id("varargs"), id("kwargs")};
}

std::string Interpreter::render() {
  Output output;
  output_ = &output;
  try {
    run(template_.body);
  } catch (Failure& failure) {
    if (failure.line == 0) failure.line = line_;
    throw;
  }
  return output.take();
}

Interpreter::Flow Interpreter::run(const Body& body) {
  for (const StatementPtr& statement : body) {
    const Flow flow = run(*statement);
    if (flow != Flow::kNormal) return flow;
  }
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::run(const Statement& statement) {
  const Nested nested;
  budget_.step();
  line_ = statement.line;
  switch (statement.kind) {
    case StatementKind::kData:
      output_->append(static_cast<const DataStatement&>(statement).text);
      break;
    case StatementKind::kPrint:
      print(evaluate(*static_cast<const PrintStatement&>(statement).value));
      break;
    case StatementKind::kFor:
      return run_for(static_cast<const ForStatement&>(statement));
    case StatementKind::kIf:
      return run_if(static_cast<const IfStatement&>(statement));
    case StatementKind::kMacro:
      run_macro(static_cast<const MacroStatement&>(statement));
      break;
    case StatementKind::kCallBlock:
      run_call_block(static_cast<const CallBlockStatement&>(statement));
      break;
    case StatementKind::kFilterBlock:
      return run_filter_block(static_cast<const FilterBlockStatement&>(statement));
    case StatementKind::kWith:
      return run_with(static_cast<const WithStatement&>(statement));
    case StatementKind::kSet: {
      const auto& set = static_cast<const SetStatement&>(statement);
      check_namespaces(set.target);
      assign(set.target, evaluate(*set.value));
      break;
    }
    case StatementKind::kSetBlock:
      return run_set_block(static_cast<const SetBlockStatement&>(statement));
    case StatementKind::kBreak:
      return Flow::kBreak;
    case StatementKind::kContinue:
      return Flow::kContinue;
    case StatementKind::kGeneration:
      run_generation(static_cast<const GenerationStatement&>(statement));
      break;
    case StatementKind::kAutoescape:
      return run_autoescape(static_cast<const AutoescapeStatement&>(statement));
    case StatementKind::kBlock:
      run_block(static_cast<const BlockStatement&>(statement));
      break;
    case StatementKind::kForeign:
      type_error("no other template can be reached with '" +
                 static_cast<const ForeignStatement&>(statement).tag + "'");
  }
  return Flow::kNormal;
}

void Interpreter::print(const Value& value) {
  if (autoescape_) {
    output_->append(escape(value).as_string());
  } else if (value.is_text()) {
    output_->append(value.as_string());
  } else {
    output_->append(to_text(value));
  }
}

Interpreter::Flow Interpreter::run_if(const IfStatement& statement) {
  for (const auto& [test, body] : statement.branches) {
    line_ = test->line;
    if (truthy(evaluate(*test))) return run(body);
  }
  return run(statement.otherwise);
}

Interpreter::Flow Interpreter::run_for(const ForStatement& loop) {
  const Value over = evaluate(*loop.over);
  if (!loop.recursive) return run_loop(loop, over, 0);
  output_->append(run_recursive_loop(loop, scope_, over, 0).as_string());
  return Flow::kNormal;
}

Value Interpreter::run_recursive_loop(const ForStatement& loop, const std::shared_ptr<Scope>& scope,
                                      const Value& over, int depth) {
  const Call call(*this, "loops call themselves");
  Output output;
  {
    const Inside inside(*this, scope, &output);
    run_loop(loop, over, depth);
  }
  return Value::text(output.take());
}

Interpreter::Flow Interpreter::run_loop(const ForStatement& loop, const Value& over, int depth) {
  std::shared_ptr<IteratorObject> items = must_iterate(over);
  Value sized = over;
  if (loop.test != nullptr) {
    items = std::make_shared<FilteredItems>(*this, loop, scope_, std::move(items));
    sized = {};
  }
  const auto state = std::make_shared<LoopObject>(loop, scope_, std::move(items), sized, depth);
  bool none = true;
  run_iterations(loop, state, none);
  if (!none || loop.otherwise.empty()) return Flow::kNormal;
  const Inside inside(*this, std::make_shared<Scope>(scope_));
  return run(loop.otherwise);
}

// `none` stays true until an iteration gets to its end: one that breaks or continues does not count
// for the loop's else.
Interpreter::Flow Interpreter::run_iterations(const ForStatement& loop,
                                              const std::shared_ptr<LoopObject>& state,
                                              bool& none) {
  const std::shared_ptr<Scope> around = scope_;
  std::shared_ptr<Scope> scope;
  while (const auto item = state->advance()) {
    budget_.step(2);
    if (scope != nullptr && scope.use_count() == 1) {
      scope->clear();
    } else {
      scope = std::make_shared<Scope>(around);
    }
    const Inside inside(*this, scope);
    assign(loop.target, *item);
    if (names_.loop >= 0) scope_->set(names_.loop, Value(Kind::kLoop, state));
    const Flow flow = run(loop.body);
    if (flow == Flow::kBreak) return flow;
    if (flow == Flow::kNormal) none = false;
  }
  return Flow::kNormal;
}

bool Interpreter::passes(const ForStatement& loop, const std::shared_ptr<Scope>& scope,
                         Value& value) {
  const Inside inside(*this, std::make_shared<Scope>(scope));
  assign(loop.target, value);
  if (!truthy(evaluate(*loop.test))) return false;
  value = read(loop.target);
  return true;
}

Interpreter::Flow Interpreter::run_with(const WithStatement& statement) {
  const auto scope = std::make_shared<Scope>(scope_);
  for (const auto& [target, expr] : statement.variables) {
    const Value value = evaluate(*expr);
    const Inside inside(*this, scope);
    assign(target, value);
  }
  const Inside inside(*this, scope);
  return run(statement.body);
}

Interpreter::Flow Interpreter::run_filter_block(const FilterBlockStatement& statement) {
  Output output;
  const Inside inside(*this, std::make_shared<Scope>(scope_), &output);
  const Flow flow = run(statement.body);
  if (flow != Flow::kNormal) return flow;
  const Value block = Value::text(output.take(), autoescape_);
  const Value result = evaluate_filter(static_cast<const ApplyExpr&>(*statement.filter), &block);
  output.append(autoescape_ ? escape(result).as_string() : to_text(result));
  const std::string text = output.take();
  inside.outer_output().append(text);
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::run_set_block(const SetBlockStatement& statement) {
  Value value;
  {
    Output output;
    const Inside inside(*this, std::make_shared<Scope>(scope_), &output);
    const Flow flow = run(statement.body);
    if (flow != Flow::kNormal) return flow;
    value = Value::text(output.take(), autoescape_);
    if (statement.filter != nullptr) {
      value = evaluate_filter(static_cast<const ApplyExpr&>(*statement.filter), &value);
    }
  }
  check_namespaces(statement.target);
  assign(statement.target, value);
  return Flow::kNormal;
}

Interpreter::Flow Interpreter::run_autoescape(const AutoescapeStatement& statement) {
  const Inside inside(*this, std::make_shared<Scope>(scope_));
  const bool before = autoescape_;
  autoescape_ = truthy(evaluate(*statement.enabled));
  const Flow flow = run(statement.body);
  autoescape_ = before;
  return flow;
}

void Interpreter::run_macro(const MacroStatement& statement) {
  scope_->set(statement.name, Value(Kind::kFunction, std::make_shared<MacroObject>(
                                                         statement.macro, scope_, template_)));
}

void Interpreter::run_call_block(const CallBlockStatement& statement) {
  const Value caller(Kind::kFunction,
                     std::make_shared<MacroObject>(statement.macro, scope_, template_));
  output_->append(to_text(evaluate_call(*statement.call, caller)));
}

// To the reference a call block, whose body is a macro without arguments.
void Interpreter::run_generation(const GenerationStatement& statement) {
  const Inside inside(*this, std::make_shared<Scope>(scope_));
  if (names_.varargs >= 0) scope_->set(names_.varargs, Value::tuple({}));
  if (names_.kwargs >= 0) scope_->set(names_.kwargs, dict_value(make_dict()));
  run(statement.body);
}

// There is no other template to override the block: it stands where it is, and sees only what is
// set at the top level.
void Interpreter::run_block(const BlockStatement& statement) {
  if (statement.required) {
    fail(FailureKind::kRuntime, "required block '" + statement.name + "' not found");
  }
  const Inside inside(*this, std::make_shared<Scope>(statement.scoped ? scope_ : root_));
  run(statement.body);
}

Value Interpreter::call_macro(const MacroBody& macro, const std::shared_ptr<Scope>& scope,
                              Arguments arguments) {
  const Call call(*this, "macros call each other");
  Output output;
  {
    const Inside inside(*this, std::make_shared<Scope>(scope), &output);
    bind_parameters(macro, std::move(arguments));
    run(macro.body);
  }
  call.done();
  return Value::text(output.take(), autoescape_);
}

Value Interpreter::call_block(const BlockStatement& block) {
  const Call call(*this, "blocks call each other");
  Output output;
  {
    const Inside inside(*this, root_, &output);
    run_block(block);
  }
  call.done();
  return Value::text(output.take(), autoescape_);
}

}  // namespace quire::jinja
