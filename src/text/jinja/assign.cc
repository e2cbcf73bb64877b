// SPDX-License-Identifier: Apache-2.0
// Assignment, and the parameters of macros.
#include <algorithm>

#include "text/jinja/interpreter.h"
#include "text/jinja/loop.h"

namespace quire::jinja {

void Interpreter::assign(const Target& target, const Value& value) {
  switch (target.of) {
    case Target::Of::kName:
      scope_->set(target.name, value);
      return;
    case Target::Of::kNamespace:
      assign_namespace(target, value);
      return;
    case Target::Of::kTuple:
      break;
  }
  const auto items = iterate(value);
  if (items == nullptr) type_error("cannot unpack non-iterable " + type_name(value) + " object");
  for (const Target& part : target.parts) {
    const auto item = items->next();
    if (!item) {
      value_error("not enough values to unpack (expected " + std::to_string(target.parts.size()) +
                  ")");
    }
    assign(part, *item);
  }
  if (items->next()) {
    value_error("too many values to unpack (expected " + std::to_string(target.parts.size()) + ")");
  }
}

void Interpreter::check_namespaces(const Target& target) {
  for (const Target& part : target.parts) check_namespaces(part);
  if (target.of != Target::Of::kNamespace) return;
  const Value* value = scope_->find(target.name);
  if (value == nullptr || value->kind() != Kind::kNamespace) {
    fail(FailureKind::kRuntime, "cannot assign attribute '" + target.attribute +
                                    "' on non-namespace object '" +
                                    template_.names[static_cast<std::size_t>(target.name)] + "'");
  }
}

void Interpreter::assign_namespace(const Target& target, const Value& value) {
  check_namespaces(target);
  scope_->find(target.name)->get<NamespaceObject>()->set(Value::text(target.attribute), value);
}

Value Interpreter::read(const Target& target) {
  if (target.of != Target::Of::kTuple) return *scope_->find(target.name);
  List parts;
  for (const Target& part : target.parts) parts.push_back(read(part));
  return Value::tuple(std::move(parts));
}

// Positional arguments first, then keywords by name, then defaults, which may use the parameters
// before them.
void Interpreter::bind_parameters(const MacroBody& macro, Arguments arguments) {
  const std::size_t count = macro.parameters.size();
  const std::size_t given = std::min(count, arguments.positional.size());
  const auto take = [&arguments](std::string_view name) -> std::optional<Value> {
    auto& keywords = arguments.keywords;
    charge_steps(static_cast<std::int64_t>(keywords.size() / 64));
    const auto found = std::find_if(keywords.begin(), keywords.end(),
                                    [name](const auto& keyword) { return keyword.first == name; });
    if (found == keywords.end()) return std::nullopt;
    Value value = std::move(found->second);
    keywords.erase(found);
    return value;
  };
  bool has_caller = false;
  std::vector<std::optional<Value>> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::string& name = template_.names[static_cast<std::size_t>(macro.parameters[i])];
    has_caller = has_caller || name == "caller";
    values[i] = i < given ? std::optional<Value>(arguments.positional[i]) : take(name);
  }
  if (macro.uses_caller && !has_caller) {
    auto caller = take("caller");
    const bool none = !caller || caller->is_none();
    scope_->set(names_.caller, none ? Value::undefined("No caller defined") : *caller);
  }
  const std::string label = "macro '" + macro.name + "'";
  if (macro.uses_kwargs) {
    auto rest = make_dict();
    for (auto& [key, value] : arguments.keywords) rest->set(Value::text(key), value);
    scope_->set(names_.kwargs, dict_value(std::move(rest)));
  } else if (!arguments.keywords.empty()) {
    type_error(label + " takes no keyword argument '" + arguments.keywords.front().first + "'");
  }
  if (macro.uses_varargs) {
    scope_->set(names_.varargs,
                Value::tuple({arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                              arguments.positional.end()}));
  } else if (arguments.positional.size() > count) {
    type_error(label + " takes not more than " + std::to_string(count) + " argument(s)");
  }
  const std::size_t required = count - macro.defaults.size();
  for (std::size_t i = 0; i < count; ++i) {
    const NameId id = macro.parameters[i];
    if (values[i]) {
      scope_->set(id, std::move(*values[i]));
    } else if (i >= required) {
      scope_->set(id, evaluate(*macro.defaults[i - required]));
    } else {
      scope_->set(id,
                  Value::undefined("parameter '" + template_.names[static_cast<std::size_t>(id)] +
                                   "' was not provided"));
    }
  }
}

}  // namespace quire::jinja
