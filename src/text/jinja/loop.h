// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/interpreter.h"

namespace quire::jinja {

// The variable `loop`: where an iteration stands. Looks one item ahead when asked for what comes
// next, which a template can notice when the items are computed lazily.
class LoopObject final : public Object,
                         public Cyclic,
                         public std::enable_shared_from_this<LoopObject> {
 public:
  // `sized` is the value iterated over when its length is the number of iterations.
  LoopObject(const ForStatement& statement, std::shared_ptr<Scope> scope,
             std::shared_ptr<IteratorObject> items, Value sized, int depth);

  // The next item, which becomes the current one.
  std::optional<Value> advance();

  // Whether `value` differs from the one given before; true for the first.
  bool changed(const Value& value);

  std::string type_name() const override { return "LoopContext"; }
  std::string describe() const override;
  std::optional<Value> attribute(std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments arguments) override;

  void break_cycles() override;
  std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

  const std::shared_ptr<Scope>& scope() const { return scope_; }

 private:
  const std::optional<Value>& peek();
  std::int64_t length();

  const ForStatement& statement_;
  std::shared_ptr<Scope> scope_;
  std::shared_ptr<IteratorObject> items_;
  Value sized_;
  int depth_;
  std::int64_t index0_ = -1;
  std::optional<std::int64_t> length_;
  std::optional<Value> after_;
  std::optional<Value> current_;
  std::optional<Value> before_;
  std::optional<Value> changed_;
};

// The items of a loop that pass its test, tested as they are asked for.
class FilteredItems final : public IteratorObject {
 public:
  FilteredItems(Interpreter& interpreter, const ForStatement& statement,
                std::shared_ptr<Scope> scope, std::shared_ptr<IteratorObject> items)
      : interpreter_(interpreter),
        statement_(statement),
        scope_(std::move(scope)),
        items_(std::move(items)) {}
  std::string type_name() const override { return "generator"; }
  std::optional<Value> next() override;

 private:
  Interpreter& interpreter_;
  const ForStatement& statement_;
  std::shared_ptr<Scope> scope_;
  std::shared_ptr<IteratorObject> items_;
};

// A function made by the library: a global, or a method bound to its value. Most methods, as in
// Python, take no arguments by name.
class FunctionObject final : public Object {
 public:
  using Body = Value (*)(Interpreter&, const Value& self, Arguments);
  FunctionObject(std::string name, Body body, Value self = {}, bool by_name = true)
      : name_(std::move(name)), body_(body), self_(std::move(self)), by_name_(by_name) {}
  std::string type_name() const override { return "builtin_function_or_method"; }
  std::string describe() const override { return "<built-in method " + name_ + ">"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments arguments) override {
    if (!by_name_ && !arguments.keywords.empty()) {
      type_error(name_ + "() takes no keyword arguments");
    }
    return body_(interpreter, self_, std::move(arguments));
  }

 private:
  std::string name_;
  Body body_;
  Value self_;
  bool by_name_;
};

class MacroObject final : public Object {
 public:
  MacroObject(const MacroBody& macro, std::shared_ptr<Scope> scope, const Template& source)
      : charge_(512), macro_(macro), scope_(std::move(scope)), source_(source) {}
  std::string type_name() const override { return "Macro"; }
  std::string describe() const override;
  std::optional<Value> attribute(std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments arguments) override {
    return interpreter.call_macro(macro_, scope_, std::move(arguments));
  }

 private:
  Charge charge_;
  const MacroBody& macro_;
  std::shared_ptr<Scope> scope_;
  const Template& source_;
};

// What namespace() makes: attributes that set can change.
class NamespaceObject final : public Object,
                              public Cyclic,
                              public std::enable_shared_from_this<NamespaceObject> {
 public:
  NamespaceObject() : charge_(256) {}
  std::string type_name() const override { return "Namespace"; }
  std::string describe() const override;
  std::optional<Value> attribute(std::string_view name) override;
  // Throws Failure kSecurity for names that begin with an underscore.
  void set(const Value& name, Value value);

  void break_cycles() override { attributes_.clear(); }
  std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

 private:
  Charge charge_;
  DictObject attributes_;
};

}  // namespace quire::jinja
