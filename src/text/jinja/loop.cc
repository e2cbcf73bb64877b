// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/loop.h"

namespace quire::jinja {
namespace {

LoopObject& self_loop(const Value& self) { return *self.get<LoopObject>(); }

Value cycle(Interpreter&, const Value& self, Arguments arguments) {
  if (arguments.positional.empty()) type_error("no items for cycling given");
  const Value index = *self_loop(self).attribute("index0");
  const auto count = static_cast<std::int64_t>(arguments.positional.size());
  return arguments.positional[static_cast<std::size_t>(index.as_int() % count)];
}

Value has_changed(Interpreter&, const Value& self, Arguments arguments) {
  return Value::boolean(self_loop(self).changed(Value::tuple(std::move(arguments.positional))));
}

}  // namespace

LoopObject::LoopObject(const ForStatement& statement, std::shared_ptr<Scope> scope,
                       std::shared_ptr<IteratorObject> items, Value sized, int depth)
    : statement_(statement),
      scope_(std::move(scope)),
      items_(std::move(items)),
      sized_(std::move(sized)),
      depth_(depth) {}

std::optional<Value> LoopObject::advance() {
  std::optional<Value> item;
  if (after_) {
    item = std::move(after_);
    after_.reset();
  } else {
    item = items_->next();
  }
  if (!item) return item;
  ++index0_;
  before_ = std::move(current_);
  current_ = item;
  return item;
}

const std::optional<Value>& LoopObject::peek() {
  if (!after_) after_ = items_->next();
  return after_;
}

std::int64_t LoopObject::length() {
  if (length_) return *length_;
  length_ = sized_.is_undefined() && sized_.object() == nullptr ? std::nullopt : length_of(sized_);
  if (!length_) {
    List rest;
    while (auto item = items_->next()) {
      charge_steps(1);
      check_size(rest.size() + 1, sizeof(Value));
      rest.push_back(std::move(*item));
    }
    length_ = static_cast<std::int64_t>(rest.size()) + index0_ + 1 + (after_ ? 1 : 0);
    items_ = iterate(Value::list(std::move(rest)));
  }
  return *length_;
}

bool LoopObject::changed(const Value& value) {
  if (changed_ && equal(*changed_, value)) return false;
  changed_ = value;
  return true;
}

std::optional<Value> LoopObject::attribute(std::string_view name) {
  if (name == "index") return Value::integer(index0_ + 1);
  if (name == "index0") return Value::integer(index0_);
  if (name == "first") return Value::boolean(index0_ == 0);
  if (name == "last") return Value::boolean(!peek());
  if (name == "length") return Value::integer(length());
  if (name == "revindex") return Value::integer(length() - index0_);
  if (name == "revindex0") return Value::integer(length() - index0_ - 1);
  if (name == "depth") return Value::integer(depth_ + 1);
  if (name == "depth0") return Value::integer(depth_);
  if (name == "previtem") {
    return index0_ > 0 && before_ ? *before_ : Value::undefined("there is no previous item");
  }
  if (name == "nextitem") {
    return peek() ? *after_ : Value::undefined("there is no next item");
  }
  if (name == "cycle" || name == "changed") {
    const Value self(Kind::kLoop, shared_from_this());
    return Value(Kind::kFunction,
                 std::make_shared<FunctionObject>(std::string(name),
                                                  name == "cycle" ? cycle : has_changed, self));
  }
  return std::nullopt;
}

std::string LoopObject::describe() const {
  const auto total = length_ ? length_ : length_of(sized_);
  return "<LoopContext " + std::to_string(index0_ + 1) + "/" + std::to_string(total.value_or(0)) +
         ">";
}

Value LoopObject::call(Interpreter& interpreter, Arguments arguments) {
  if (!statement_.recursive) {
    type_error("the loop must have the 'recursive' marker to be called recursively");
  }
  if (arguments.positional.size() != 1 || !arguments.keywords.empty()) {
    type_error("loop() takes exactly one argument");
  }
  return interpreter.run_recursive_loop(statement_, scope_, arguments.positional[0], depth_ + 1);
}

void LoopObject::break_cycles() {
  items_.reset();
  scope_.reset();
  sized_ = {};
  after_.reset();
  current_.reset();
  before_.reset();
  changed_.reset();
}

std::optional<Value> FilteredItems::next() {
  while (auto item = items_->next()) {
    charge_steps(1);
    if (interpreter_.passes(statement_, scope_, *item)) return item;
  }
  return std::nullopt;
}

std::string MacroObject::describe() const {
  if (macro_.name.empty()) return "<Macro anonymous>";
  return "<Macro " + to_repr(Value::text(macro_.name)) + ">";
}

std::optional<Value> MacroObject::attribute(std::string_view name) {
  if (name == "name") {
    return macro_.name.empty() ? Value::none() : Value::text(macro_.name);
  }
  if (name == "arguments") {
    List names;
    for (const NameId id : macro_.parameters) {
      names.push_back(Value::text(source_.names[static_cast<std::size_t>(id)]));
    }
    return Value::tuple(std::move(names));
  }
  if (name == "catch_kwargs") return Value::boolean(macro_.uses_kwargs);
  if (name == "catch_varargs") return Value::boolean(macro_.uses_varargs);
  if (name == "caller") return Value::boolean(macro_.uses_caller);
  return std::nullopt;
}

std::string NamespaceObject::describe() const {
  std::string out = "<Namespace {";
  const Nested nested;
  bool first = true;
  for (const auto& [key, value] : attributes_.items) {
    out += (first ? "" : ", ") + to_repr(key) + ": " + to_repr(value);
    first = false;
    check_size(out.size(), 1);
  }
  return out + "}>";
}

std::optional<Value> NamespaceObject::attribute(std::string_view name) {
  if (const Value* found = attributes_.find(name)) return *found;
  return std::nullopt;
}

void NamespaceObject::set(const Value& name, Value value) {
  if (name.is_text() && name.as_string().starts_with("_")) {
    fail(FailureKind::kSecurity,
         "templates cannot store underscore-prefixed attributes on a namespace, but got " +
             to_repr(name));
  }
  attributes_.set(name, std::move(value));
}

}  // namespace quire::jinja
