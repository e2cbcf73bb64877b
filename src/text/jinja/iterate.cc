// SPDX-License-Identifier: Apache-2.0
// len(), iter() and in.
#include <cmath>

#include "text/jinja/bytes.h"
#include "text/jinja/methods.h"
#include "text/jinja/unicode.h"
#include "text/jinja/value.h"

namespace quire::jinja {
namespace {

class ListIterator final : public IteratorObject {
 public:
  explicit ListIterator(Value list) : list_(std::move(list)) {}
  std::string type_name() const override { return "list_iterator"; }
  std::optional<Value> next() override {
    if (at_ >= list_.as_list().size()) return std::nullopt;
    return list_.as_list()[at_++];
  }

 private:
  Value list_;
  std::size_t at_ = 0;
};

class TextIterator final : public IteratorObject {
 public:
  explicit TextIterator(Value text) : text_(std::move(text)) {}
  std::string type_name() const override { return "str_iterator"; }
  std::optional<Value> next() override {
    const std::string& s = text_.as_string();
    if (at_ >= s.size()) return std::nullopt;
    const std::size_t begin = at_;
    next_code_point(s, at_);
    return Value::text(s.substr(begin, at_ - begin));
  }

 private:
  Value text_;
  std::size_t at_ = 0;
};

class BytesIterator final : public IteratorObject {
 public:
  explicit BytesIterator(Value bytes) : bytes_(std::move(bytes)) {}
  std::string type_name() const override { return "bytes_iterator"; }
  std::optional<Value> next() override {
    const std::string& s = bytes_of(bytes_);
    if (at_ >= s.size()) return std::nullopt;
    return Value::integer(static_cast<unsigned char>(s[at_++]));
  }

 private:
  Value bytes_;
  std::size_t at_ = 0;
};

class ViewIterator final : public IteratorObject {
 public:
  ViewIterator(Value dict, ViewObject::Of of) : dict_(std::move(dict)), of_(of) {}
  std::string type_name() const override { return "dict_iterator"; }
  std::optional<Value> next() override {
    if (at_ >= dict_.as_dict().size()) return std::nullopt;
    const auto& [key, value] = dict_.as_dict().items[at_++];
    if (of_ == ViewObject::Of::kKeys) return key;
    if (of_ == ViewObject::Of::kValues) return value;
    return Value::tuple({key, value});
  }

 private:
  Value dict_;
  ViewObject::Of of_;
  std::size_t at_ = 0;
};

class RangeIterator final : public IteratorObject {
 public:
  explicit RangeIterator(const RangeObject& range)
      : at_(range.start), step_(range.step), left_(range.size()) {}
  std::string type_name() const override { return "range_iterator"; }
  std::optional<Value> next() override {
    if (left_ == 0) return std::nullopt;
    const std::int64_t now = at_;
    if (--left_ > 0) at_ += step_;
    return Value::integer(now);
  }

 private:
  std::int64_t at_;
  std::int64_t step_;
  std::int64_t left_;
};

class EmptyIterator final : public IteratorObject {
 public:
  std::string type_name() const override { return "generator"; }
  std::optional<Value> next() override { return std::nullopt; }
};

bool range_contains(const RangeObject& range, const Value& value) {
  if (!value.is_number()) return false;
  for (RangeIterator it(range);;) {
    const auto item = it.next();
    if (!item) return false;
    charge_steps(1);
    if (equal(*item, value)) return true;
  }
}

}  // namespace

std::optional<std::int64_t> length_of(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return 0;
    case Kind::kText:
      return static_cast<std::int64_t>(value.as_text().length);
    case Kind::kBytes:
      return static_cast<std::int64_t>(bytes_of(value).size());
    case Kind::kList:
    case Kind::kTuple:
      return static_cast<std::int64_t>(value.as_list().size());
    case Kind::kDict:
      return static_cast<std::int64_t>(value.as_dict().size());
    case Kind::kView:
      return static_cast<std::int64_t>(value.get<ViewObject>()->dict.as_dict().size());
    case Kind::kRange:
      return value.get<RangeObject>()->size();
    default:
      return std::nullopt;
  }
}

std::shared_ptr<IteratorObject> iterate(const Value& value) {
  switch (value.kind()) {
    case Kind::kUndefined:
      return std::make_shared<EmptyIterator>();
    case Kind::kText:
      return std::make_shared<TextIterator>(value);
    case Kind::kBytes:
      return std::make_shared<BytesIterator>(value);
    case Kind::kList:
    case Kind::kTuple:
      return std::make_shared<ListIterator>(value);
    case Kind::kDict:
      return std::make_shared<ViewIterator>(value, ViewObject::Of::kKeys);
    case Kind::kView: {
      const auto* view = value.get<ViewObject>();
      return std::make_shared<ViewIterator>(view->dict, view->of);
    }
    case Kind::kRange:
      return std::make_shared<RangeIterator>(*value.get<RangeObject>());
    default:
      return std::dynamic_pointer_cast<IteratorObject>(value.object());
  }
}

std::shared_ptr<IteratorObject> must_iterate(const Value& value) {
  auto iterator = iterate(value);
  if (iterator == nullptr) type_error("'" + type_name(value) + "' object is not iterable");
  return iterator;
}

List to_list(const Value& value) {
  if (value.is_sequence()) {
    charge_steps(static_cast<std::int64_t>(value.as_list().size() / 8));
    return value.as_list();
  }
  const auto iterator = must_iterate(value);
  List items;
  while (auto item = iterator->next()) {
    charge_steps(1);
    check_size(items.size() + 1, sizeof(Value));
    items.push_back(std::move(*item));
  }
  return items;
}

bool contains(const Value& container, const Value& value) {
  switch (container.kind()) {
    case Kind::kText:
      if (!value.is_text()) {
        type_error("'in <string>' requires string as left operand, not " + type_name(value));
      }
      charge_steps(static_cast<std::int64_t>(container.as_string().size() / 64));
      return find_first(container.as_string(), value.as_string()) != std::string::npos;
    case Kind::kBytes:
      if (value.kind() != Kind::kBytes) break;
      charge_steps(static_cast<std::int64_t>(bytes_of(container).size() / 64));
      return find_first(bytes_of(container), bytes_of(value)) != std::string::npos;
    case Kind::kDict:
      return container.as_dict().find(value) != nullptr;
    case Kind::kRange:
      return range_contains(*container.get<RangeObject>(), value);
    case Kind::kView: {
      const auto* view = container.get<ViewObject>();
      if (view->of == ViewObject::Of::kKeys) return view->dict.as_dict().find(value) != nullptr;
      break;
    }
    default:
      break;
  }
  const auto iterator = iterate(container);
  if (iterator == nullptr) {
    type_error("argument of type '" + type_name(container) + "' is not iterable");
  }
  while (const auto item = iterator->next()) {
    charge_steps(1);
    if (identical(*item, value) || equal(*item, value)) return true;
  }
  return false;
}

}  // namespace quire::jinja
