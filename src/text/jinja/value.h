// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/jinja/bigint.h"
#include "text/jinja/limits.h"

// The values of a template: Python's, as far as templates can see them.
//
// Texts, lists, tuples and dicts never change once made (the reference's sandbox forbids it), so
// values share them freely, also between threads. Namespaces and iterators do change; they live
// within one render.
namespace quire::jinja {

class Interpreter;
class Value;

enum class Kind : std::uint8_t {
  kUndefined,
  kNone,
  kBool,
  kInt,
  kBigInt,  // beyond 64 bits
  kFloat,
  kText,
  kBytes,
  kList,
  kTuple,
  kDict,
  kView,  // dict.keys(), .values(), .items()
  kRange,
  kIterator,  // what map, select, … return: consumed as it is read
  kNamespace,
  kLoop,
  kFunction,  // callables without state a template can see
  kOther,     // cycler, joiner, macros: described by Object
};

using List = std::vector<Value>;

// Positional and keyword arguments of a call.
struct Arguments {
  std::vector<Value> positional;
  std::vector<std::pair<std::string, Value>> keywords;
};

// What values of the bigger kinds point at.
class Object {
 public:
  Object() = default;
  virtual ~Object() = default;
  Object(const Object&) = delete;
  Object& operator=(const Object&) = delete;

  // Python's name of the type, and what printing shows.
  virtual std::string type_name() const = 0;
  virtual std::string describe() const { return "<" + type_name() + " object>"; }

  // An attribute that Python's getattr would find; nothing if there is none.
  virtual std::optional<Value> attribute(std::string_view name);
  virtual bool callable() const { return false; }
  virtual Value call(Interpreter& interpreter, Arguments arguments);

  std::shared_ptr<Object> waits_behind;  // once this is to be destroyed
};

// How an undefined value came to be: what is said when it is used.
struct UndefinedObject;
struct TextObject;
struct ListObject;
struct DictObject;
struct ViewObject;
struct RangeObject;
class IteratorObject;

class Value {
 public:
  Value() = default;  // undefined without a story
  Value(const Value&) = default;
  Value(Value&&) noexcept = default;
  Value& operator=(const Value& other);
  Value& operator=(Value&& other) noexcept;
  ~Value();
  Value(Kind kind, std::shared_ptr<Object> object) : kind_(kind), object_(std::move(object)) {}

  static Value none();
  static Value boolean(bool b);
  static Value integer(std::int64_t i);
  static Value integer(const BigInt& i);
  static Value number(double d);
  static Value text(std::string s, bool markup = false);
  static Value list(List items);
  static Value tuple(List items);
  static Value undefined(std::string hint, FailureKind failure = FailureKind::kUndefined);

  Kind kind() const { return kind_; }
  bool is_undefined() const { return kind_ == Kind::kUndefined; }
  bool is_none() const { return kind_ == Kind::kNone; }
  bool is_text() const { return kind_ == Kind::kText; }
  bool is_markup() const;
  bool is_sequence() const { return kind_ == Kind::kList || kind_ == Kind::kTuple; }
  bool is_dict() const { return kind_ == Kind::kDict; }
  bool is_integral() const {  // bool counts, as in Python
    return kind_ == Kind::kBool || kind_ == Kind::kInt || kind_ == Kind::kBigInt;
  }
  bool is_number() const { return is_integral() || kind_ == Kind::kFloat; }

  // REQUIRES: the kind is the one asked for (bool also as int).
  bool as_bool() const { return int_ != 0; }
  std::int64_t as_int() const { return int_; }
  double as_float() const { return float_; }
  const BigInt& as_big() const;
  const TextObject& as_text() const;
  const std::string& as_string() const;
  const List& as_list() const;
  const DictObject& as_dict() const;
  const std::shared_ptr<Object>& object() const { return object_; }

  template <typename T>
  T* get() const {
    return dynamic_cast<T*>(object_.get());
  }

 private:
  Kind kind_ = Kind::kUndefined;
  union {
    std::int64_t int_ = 0;
    double float_;
  };
  std::shared_ptr<Object> object_;
};

struct UndefinedObject : Object {
  std::string type_name() const override { return "Undefined"; }
  std::string hint;
  FailureKind failure = FailureKind::kUndefined;
};

struct TextObject : Object {
  TextObject(std::string s, bool is_markup);
  std::string type_name() const override { return markup ? "Markup" : "str"; }
  bool ascii() const { return length == bytes.size(); }

  Charge charge;
  std::string bytes;   // UTF-8
  std::size_t length;  // in code points
  bool markup;
};

struct BigIntObject : Object {
  explicit BigIntObject(BigInt v) : charge(v.bytes()), value(std::move(v)) {}
  std::string type_name() const override { return "int"; }
  Charge charge;
  BigInt value;
};

// A list or a tuple; names are those of a named tuple's fields.
struct ListObject : Object {
  explicit ListObject(List list);
  std::string type_name() const override { return "list"; }
  std::optional<Value> attribute(std::string_view name) override;
  Charge charge;
  List items;
  std::vector<std::string> names;
};

// Keys in order of first insertion.
struct DictObject : Object {
  std::string type_name() const override { return "dict"; }

  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
  // Throws Failure kType for a key that cannot be one.
  void set(const Value& key, Value value);
  void clear();
  std::size_t size() const { return items.size(); }

  std::vector<std::pair<Value, Value>> items;

 private:
  std::optional<std::size_t> position(const Value& key, std::size_t hash) const;
  std::unordered_multimap<std::size_t, std::size_t> index_;  // empty while there are few items
  std::vector<std::unique_ptr<Charge>> charges_;
};

struct ViewObject : Object {
  enum class Of : std::uint8_t { kKeys, kValues, kItems };
  ViewObject(Value d, Of what) : dict(std::move(d)), of(what) {}
  std::string type_name() const override;
  Value dict;
  Of of;
};

struct RangeObject : Object {
  std::string type_name() const override { return "range"; }
  std::optional<Value> attribute(std::string_view name) override;
  std::int64_t size() const;
  std::int64_t item(std::int64_t index) const;  // REQUIRES: 0 <= index < size()
  std::int64_t start = 0;
  std::int64_t stop = 0;
  std::int64_t step = 1;
};

class IteratorObject : public Object {
 public:
  // Nothing at the end, and from then on.
  virtual std::optional<Value> next() = 0;
};

// A dict under construction, and the value it becomes.
std::shared_ptr<DictObject> make_dict();
Value dict_value(std::shared_ptr<DictObject> dict);

// The name of the value's type as Python prints it.
std::string type_name(const Value& value);

bool truthy(const Value& value);

// Throws the failure an undefined value stands for.
[[noreturn]] void fail_undefined(const Value& value);

// Python's ==, never failing; is; and <, which throws Failure kType for what has no order.
bool equal(const Value& a, const Value& b);
bool identical(const Value& a, const Value& b);
bool less(const Value& a, const Value& b, std::string_view sign = "<");

// Throws Failure kType for lists, dicts, ….
std::size_t hash_of(const Value& value);

// len(value): nothing where Python has none.
std::optional<std::int64_t> length_of(const Value& value);

// iter(value): nullptr where Python refuses.
std::shared_ptr<IteratorObject> iterate(const Value& value);
// As iterate, but throws Failure kType.
std::shared_ptr<IteratorObject> must_iterate(const Value& value);
// list(value). Throws Failure kType.
List to_list(const Value& value);

// value in container. Throws Failure kType.
bool contains(const Value& container, const Value& value);

// str(value), repr(value) and ascii(value).
std::string to_text(const Value& value);
std::string to_repr(const Value& value);
std::string to_ascii(const Value& value);
std::string float_repr(double d);

// A text of the same sort (plain or markup) as `like`.
Value text_like(const Value& like, std::string s);

}  // namespace quire::jinja
