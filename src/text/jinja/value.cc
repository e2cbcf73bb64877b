// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/value.h"

#include <cmath>
#include <functional>

#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

// Objects whose last reference went away are destroyed one after another instead of within each
// other, so that a long chain of them does not exhaust the stack: the outermost destructor of a
// thread destroys, those within it only hand over. That takes no memory: what waits is a chain. The
// pointer has no destructor of its own, so values may outlive everything a thread tears down.
thread_local std::shared_ptr<Object>* waiting = nullptr;

void destroy(std::shared_ptr<Object> object) {
  if (waiting != nullptr) {
    object->waits_behind = std::move(*waiting);
    *waiting = std::move(object);
    return;
  }
  std::shared_ptr<Object> mine;
  waiting = &mine;
  object.reset();
  while (mine != nullptr) {
    object = std::move(mine);
    mine = std::move(object->waits_behind);
    object.reset();
  }
  waiting = nullptr;
}

bool holds_others(Kind kind) {
  return kind != Kind::kText && kind != Kind::kUndefined && kind != Kind::kBigInt &&
         kind != Kind::kRange && kind != Kind::kBytes;
}

// The bytes a list takes beside what its items take.
constexpr std::size_t kListBytes = 96;
constexpr std::size_t kEntryBytes = 128;
constexpr std::size_t kIndexedFrom = 9;

}  // namespace

Value::~Value() {
  if (object_ != nullptr && holds_others(kind_) && object_.use_count() == 1) {
    destroy(std::move(object_));
  }
}

Value& Value::operator=(const Value& other) {
  if (this != &other) *this = Value(other);
  return *this;
}

Value& Value::operator=(Value&& other) noexcept {
  if (this == &other) return *this;
  Value old(kind_, std::move(object_));
  kind_ = other.kind_;
  int_ = other.int_;
  object_ = std::move(other.object_);
  return *this;
}

std::optional<Value> Object::attribute(std::string_view) { return std::nullopt; }

Value Object::call(Interpreter&, Arguments) {
  type_error("'" + type_name() + "' object is not callable");
}

TextObject::TextObject(std::string s, bool is_markup)
    : charge(s.size() + sizeof(TextObject)),
      bytes(std::move(s)),
      length(count_code_points(bytes)),
      markup(is_markup) {
  charge_steps(static_cast<std::int64_t>(bytes.size() / 64));
}

ListObject::ListObject(List list)
    : charge(kListBytes + list.size() * sizeof(Value)), items(std::move(list)) {
  charge_steps(static_cast<std::int64_t>(items.size() / 8));
}

std::optional<Value> ListObject::attribute(std::string_view name) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return items[i];
  }
  return std::nullopt;
}

std::string ViewObject::type_name() const {
  switch (of) {
    case Of::kKeys:
      return "dict_keys";
    case Of::kValues:
      return "dict_values";
    default:
      return "dict_items";
  }
}

std::optional<Value> RangeObject::attribute(std::string_view name) {
  if (name == "start") return Value::integer(start);
  if (name == "stop") return Value::integer(stop);
  if (name == "step") return Value::integer(step);
  return std::nullopt;
}

std::int64_t RangeObject::size() const {
  // Differences in unsigned arithmetic: the ends may be far apart.
  const auto span = [](std::int64_t low, std::int64_t high, std::uint64_t by) {
    const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t count = (width - 1) / by + 1;
    return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
  };
  if (step == 0) return 0;
  if (step > 0) return start < stop ? span(start, stop, static_cast<std::uint64_t>(step)) : 0;
  return stop < start ? span(stop, start, ~static_cast<std::uint64_t>(step) + 1) : 0;
}

std::int64_t RangeObject::item(std::int64_t index) const {
  // In unsigned arithmetic: the product alone may not fit.
  const std::uint64_t way = static_cast<std::uint64_t>(index) * static_cast<std::uint64_t>(step);
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(start) + way);
}

Value Value::none() {
  Value v;
  v.kind_ = Kind::kNone;
  return v;
}

Value Value::boolean(bool b) {
  Value v;
  v.kind_ = Kind::kBool;
  v.int_ = b ? 1 : 0;
  return v;
}

Value Value::integer(std::int64_t i) {
  Value v;
  v.kind_ = Kind::kInt;
  v.int_ = i;
  return v;
}

Value Value::integer(const BigInt& i) {
  if (const auto small = i.small()) return integer(*small);
  charge_steps(static_cast<std::int64_t>(i.bytes()));
  return {Kind::kBigInt, std::make_shared<BigIntObject>(i)};
}

Value Value::number(double d) {
  Value v;
  v.kind_ = Kind::kFloat;
  v.float_ = d;
  return v;
}

Value Value::text(std::string s, bool markup) {
  return {Kind::kText, std::make_shared<TextObject>(std::move(s), markup)};
}

Value Value::list(List items) {
  return {Kind::kList, std::make_shared<ListObject>(std::move(items))};
}

Value Value::tuple(List items) {
  return {Kind::kTuple, std::make_shared<ListObject>(std::move(items))};
}

Value Value::undefined(std::string hint, FailureKind failure) {
  auto object = std::make_shared<UndefinedObject>();
  object->hint = std::move(hint);
  object->failure = failure;
  return {Kind::kUndefined, std::move(object)};
}

bool Value::is_markup() const { return is_text() && as_text().markup; }
const BigInt& Value::as_big() const { return static_cast<const BigIntObject&>(*object_).value; }
const TextObject& Value::as_text() const { return static_cast<const TextObject&>(*object_); }
const std::string& Value::as_string() const { return as_text().bytes; }
const List& Value::as_list() const { return static_cast<const ListObject&>(*object_).items; }
const DictObject& Value::as_dict() const { return static_cast<const DictObject&>(*object_); }

std::shared_ptr<DictObject> make_dict() { return std::make_shared<DictObject>(); }
Value dict_value(std::shared_ptr<DictObject> dict) { return {Kind::kDict, std::move(dict)}; }
Value text_like(const Value& like, std::string s) {
  return Value::text(std::move(s), like.is_markup());
}

std::optional<std::size_t> DictObject::position(const Value& key, std::size_t hash) const {
  if (index_.empty()) {
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (equal(items[i].first, key)) return i;
    }
    return std::nullopt;
  }
  const auto [first, last] = index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    charge_steps(1);
    if (equal(items[it->second].first, key)) return it->second;
  }
  return std::nullopt;
}

const Value* DictObject::find(const Value& key) const {
  const auto at = position(key, hash_of(key));
  return at ? &items[*at].second : nullptr;
}

const Value* DictObject::find(std::string_view key) const {
  if (index_.empty()) {
    for (const auto& [k, v] : items) {
      if (k.is_text() && k.as_string() == key) return &v;
    }
    return nullptr;
  }
  return find(Value::text(std::string(key)));
}

void DictObject::set(const Value& key, Value value) {
  const std::size_t hash = hash_of(key);
  if (const auto at = position(key, hash)) {
    items[*at].second = std::move(value);
    return;
  }
  charge_steps(1);
  if (Budget::current() != nullptr && (items.empty() || (items.size() & (items.size() - 1)) == 0)) {
    charges_.push_back(
        std::make_unique<Charge>(kEntryBytes * std::max<std::size_t>(items.size(), 2)));
  }
  items.emplace_back(key, std::move(value));
  if (items.size() < kIndexedFrom) return;
  if (index_.empty()) {
    for (std::size_t i = 0; i + 1 < items.size(); ++i) index_.emplace(hash_of(items[i].first), i);
  }
  index_.emplace(hash, items.size() - 1);
}

void DictObject::clear() {
  auto old = std::move(items);
  items.clear();
  index_.clear();
}

std::string type_name(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return "Undefined";
    case Kind::kNone:
      return "NoneType";
    case Kind::kBool:
      return "bool";
    case Kind::kInt:
    case Kind::kBigInt:
      return "int";
    case Kind::kFloat:
      return "float";
    case Kind::kTuple:
      return "tuple";
    default:
      return value.object()->type_name();
  }
}

bool truthy(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
    case Kind::kNone:
      return false;
    case Kind::kBool:
    case Kind::kInt:
      return value.as_int() != 0;
    case Kind::kFloat:
      return value.as_float() != 0.0;
    default:
      break;
  }
  const auto length = length_of(value);
  return !length || *length != 0;
}

void fail_undefined(const Value& value) {
  const auto* story = value.get<UndefinedObject>();
  if (story == nullptr) fail(FailureKind::kUndefined, "an undefined value was used");
  fail(story->failure, story->hint);
}

}  // namespace quire::jinja
