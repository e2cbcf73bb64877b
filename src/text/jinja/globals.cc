// SPDX-License-Identifier: Apache-2.0
// The functions every template can call.
#include <algorithm>
#include <array>

#include "text/jinja/arguments.h"
#include "text/jinja/loop.h"
#include "text/jinja/methods.h"
#include "text/jinja/operators.h"
#include "text/jinja/strftime.h"

namespace quire::jinja {
namespace {

constexpr std::int64_t kMaxRange = 100'000;  // the sandbox's

Value range(Interpreter&, const Value&, Arguments arguments) {
  if (arguments.positional.empty()) type_error("range expected at least 1 argument, got 0");
  const bool one = arguments.positional.size() == 1;
  if (!arguments.keywords.empty()) type_error("range() takes no keyword arguments");
  const Bound bound("range", std::move(arguments), {"start", "stop", "step"});
  auto result = std::make_shared<RangeObject>();
  for (std::size_t i = 0; i < 3; ++i) {
    const Value* given = bound.get(i);
    if (given != nullptr && given->kind() == Kind::kBigInt) {
      fail(FailureKind::kValue, "range too big: more than " + std::to_string(kMaxRange) + " items");
    }
  }
  result->start = one ? 0 : bound.integer(0, 0);
  result->stop = one ? bound.integer(0, 0) : bound.integer(1, 0);
  result->step = bound.integer(2, 1);
  if (result->step == 0) value_error("range() arg 3 must not be zero");
  if (result->size() > kMaxRange) {
    value_error("range too big: the sandbox blocks ranges of more than " +
                std::to_string(kMaxRange) + " items");
  }
  return {Kind::kRange, std::move(result)};
}

// dict(mapping or pairs, name=value, …), into `put`.
template <typename Put>
void for_each_entry(Arguments arguments, Put put) {
  if (arguments.positional.size() > 1) {
    type_error("dict expected at most 1 argument, got " +
               std::to_string(arguments.positional.size()));
  }
  for (const Value& from : arguments.positional) {
    if (from.is_undefined()) fail_undefined(from);
    if (from.is_dict()) {
      for (const auto& [key, value] : from.as_dict().items) put(key, value);
      continue;
    }
    for (const Value& pair : to_list(from)) {
      const List parts = to_list(pair);
      if (parts.size() != 2) {
        value_error("dictionary update sequence element has length " +
                    std::to_string(parts.size()) + "; 2 is required");
      }
      put(parts[0], parts[1]);
    }
  }
  for (auto& [key, value] : arguments.keywords) put(Value::text(key), value);
}

Value make_dictionary(Interpreter&, const Value&, Arguments arguments) {
  auto dict = make_dict();
  for_each_entry(std::move(arguments),
                 [&dict](const Value& key, const Value& value) { dict->set(key, value); });
  return dict_value(std::move(dict));
}

// The global dict.
class DictFunction final : public Object {
 public:
  std::string type_name() const override { return "TemplateDict"; }
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments arguments) override {
    return make_dictionary(interpreter, {}, std::move(arguments));
  }
  std::optional<Value> attribute(std::string_view name) override {
    if (name != "fromkeys") return std::nullopt;
    return Value(Kind::kFunction,
                 std::make_shared<FunctionObject>("fromkeys", dict_fromkeys, Value(), false));
  }
};

Value make_namespace(Interpreter&, const Value&, Arguments arguments) {
  auto space = std::make_shared<NamespaceObject>();
  for_each_entry(std::move(arguments),
                 [&space](const Value& key, const Value& value) { space->set(key, value); });
  return {Kind::kNamespace, std::move(space)};
}

Value raise_exception(Interpreter&, const Value&, Arguments arguments) {
  const Bound bound("raise_exception", std::move(arguments), {"message"}, 1);
  fail(FailureKind::kRaised, to_text(*bound.get(0)));
}

Value strftime_now(Interpreter& interpreter, const Value&, Arguments arguments) {
  const Bound bound("strftime_now", std::move(arguments), {"format"}, 1);
  return Value::text(format_time(bound.text(0), interpreter.now()));
}

// Gives its items one after another, again and again.
class Cycler final : public Object, public Cyclic, public std::enable_shared_from_this<Cycler> {
 public:
  explicit Cycler(List items) : items_(std::move(items)) {}
  std::string type_name() const override { return "Cycler"; }

  std::optional<Value> attribute(std::string_view name) override {
    if (name == "current") return items_[at_];
    if (name == "items") return Value::tuple(items_);
    if (name == "pos") return Value::integer(static_cast<std::int64_t>(at_));
    if (name != "next" && name != "reset") return std::nullopt;
    const Value self(Kind::kOther, shared_from_this());
    return Value(Kind::kFunction, std::make_shared<FunctionObject>(
                                      std::string(name), name == "next" ? next : reset, self));
  }
  void break_cycles() override { items_.assign(1, Value()); }
  std::shared_ptr<void> keep_alive() override { return shared_from_this(); }

 private:
  static Value next(Interpreter&, const Value& self, Arguments arguments) {
    const Bound bound("next", std::move(arguments), {});
    auto& cycler = *self.get<Cycler>();
    const Value current = cycler.items_[cycler.at_];
    cycler.at_ = (cycler.at_ + 1) % cycler.items_.size();
    return current;
  }

  static Value reset(Interpreter&, const Value& self, Arguments arguments) {
    const Bound bound("reset", std::move(arguments), {});
    self.get<Cycler>()->at_ = 0;
    return Value::none();
  }

  List items_;
  std::size_t at_ = 0;
};

Value make_cycler(Interpreter&, const Value&, Arguments arguments) {
  if (!arguments.keywords.empty()) type_error("cycler() takes no keyword arguments");
  if (arguments.positional.empty()) {
    fail(FailureKind::kRuntime, "at least one item has to be provided");
  }
  return {Kind::kOther, std::make_shared<Cycler>(std::move(arguments.positional))};
}

// Nothing the first time, the separator from then on.
class Joiner final : public Object {
 public:
  explicit Joiner(Value separator) : separator_(std::move(separator)) {}
  std::string type_name() const override { return "Joiner"; }
  bool callable() const override { return true; }
  Value call(Interpreter&, Arguments arguments) override {
    const Bound bound("joiner", std::move(arguments), {});
    if (used_) return separator_;
    used_ = true;
    return Value::text("");
  }
  std::optional<Value> attribute(std::string_view name) override {
    if (name == "sep") return separator_;
    if (name == "used") return Value::boolean(used_);
    return std::nullopt;
  }

 private:
  Value separator_;
  bool used_ = false;
};

Value make_joiner(Interpreter&, const Value&, Arguments arguments) {
  const Bound bound("joiner", std::move(arguments), {"sep"});
  return {Kind::kOther, std::make_shared<Joiner>(bound.or_else(0, Value::text(", ")))};
}

// Filler text; which words it holds is not defined.
Value lipsum(Interpreter&, const Value&, Arguments arguments) {
  const Bound bound("lipsum", std::move(arguments), {"n", "html", "min", "max"});
  const bool html = truthy(bound.or_else(1, Value::boolean(true)));
  static constexpr std::array<std::string_view, 8> kWords = {
      "lorem", "ipsum", "dolor", "sit", "amet", "consectetur", "adipiscing", "elit"};
  const std::int64_t words = std::max<std::int64_t>(bound.integer(2, 20), 1);
  const std::int64_t paragraphs = bound.integer(0, 5);
  std::string out;
  for (std::int64_t n = 0; n < paragraphs; ++n) {
    charge_steps(1);
    if (n > 0) out += html ? "\n" : "\n\n";
    out += html ? "<p>Lorem" : "Lorem";
    for (std::int64_t i = 1; i < words; ++i) {
      charge_steps(1);
      out += ' ';
      out += kWords[static_cast<std::size_t>(i) % kWords.size()];
      check_size(out.size(), 1);
    }
    out += html ? ".</p>" : ".";
    check_size(out.size(), 1);
  }
  return Value::text(std::move(out), html);
}

struct Global {
  std::string_view name;
  FunctionObject::Body body;
};

constexpr Global kGlobals[] = {
    {"range", range},
    {"namespace", make_namespace},
    {"raise_exception", raise_exception},
    {"strftime_now", strftime_now},
    {"cycler", make_cycler},
    {"joiner", make_joiner},
    {"lipsum", lipsum},
};

}  // namespace

std::optional<Value> find_global(std::string_view name) {
  if (name == "dict") return Value(Kind::kFunction, std::make_shared<DictFunction>());
  const auto* found = std::find_if(std::begin(kGlobals), std::end(kGlobals),
                                   [name](const Global& g) { return g.name == name; });
  if (found == std::end(kGlobals)) return std::nullopt;
  return Value(Kind::kFunction, std::make_shared<FunctionObject>(std::string(name), found->body));
}

}  // namespace quire::jinja
