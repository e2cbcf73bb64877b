// SPDX-License-Identifier: Apache-2.0
#include "io/json.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "io/quote.h"
#include "io/read_file.h"

namespace quire {

namespace {

// Walks a text and leaves word of how far it came: the parser does not say where its events are.
class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** reached) : at_(at), reached_(reached) {}

  reference operator*() const { return *at_; }
  CountingIterator& operator++() {
    *reached_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** reached_;
};

using Member = std::function<void(const std::string&, Json)>;

// Builds the document from the parser's events; stops at the first thing that is not allowed.
class Builder final : public nlohmann::json_sax<Json> {
 public:
  // With `member` the root must be an object, whose members go there instead of into the document.
  Builder(std::string_view text, std::string_view subject, int max_depth,
          const Member* member = nullptr)
      : begin_(text.data()),
        reached_(text.data()),
        subject_(subject),
        max_depth_(max_depth),
        member_(member) {}

  const char** reached() { return &reached_; }
  Json take() { return std::move(root_); }

  [[noreturn]] void fail(std::size_t offset, const std::string& problem) const {
    throw Error(ErrorCode::kCorrupt, subject_,
                "invalid JSON at byte " + std::to_string(offset) + ": " + problem);
  }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t& value) override { return put(std::move(value)); }

  bool start_object(std::size_t) override { return open(Json::object()); }
  bool end_object() override { return close(); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    if (member_ != nullptr && open_.size() == 1) {
      member_name_ = std::move(name);
      value_ = &member_value_;
      return true;
    }
    auto& object = open_.back()->get_ref<Json::object_t&>();
    const auto [entry, is_new] = object.emplace(std::move(name), nullptr);
    if (!is_new) fail(offset(), "duplicate key " + quote(entry->first) + where());
    value_ = &entry->second;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The part that says what was wrong, without identifiers, line and the bytes last read.
    std::string problem = error.what();
    problem.resize(std::min(problem.size(), problem.find("; last read")));
    if (const auto at = problem.find(": "); at != std::string::npos) problem.erase(0, at + 2);
    fail(position == 0 ? 0 : position - 1, problem);
  }

 private:
  std::size_t offset() const { return static_cast<std::size_t>(reached_ - begin_) - 1; }

  // " in NAME.NAME" for the innermost open container, or nothing at the root.
  std::string where() const {
    std::string path = member_ != nullptr && open_.size() > 1 ? member_name_ : "";
    for (std::size_t i = path.empty() ? 1 : 2; i < open_.size(); ++i) {
      const auto& items = open_[i - 1]->items();
      for (auto item = items.begin(); item != items.end(); ++item) {
        if (&item.value() == open_[i]) path += (path.empty() ? "" : ".") + item.key();
      }
    }
    return path.empty() ? path : " in " + label(path);
  }

  // Where the next value belongs.
  Json& place() {
    if (open_.empty()) return root_;
    if (open_.back()->is_array()) {
      return open_.back()->get_ref<Json::array_t&>().emplace_back(nullptr);
    }
    return *value_;
  }

  bool put(Json value) {
    if (member_ != nullptr && open_.empty()) fail(offset(), "expected an object");
    place() = std::move(value);
    hand_over();
    return true;
  }

  bool open(Json container) {
    if (open_.size() >= static_cast<std::size_t>(max_depth_)) {
      fail(offset(), "nested deeper than " + std::to_string(max_depth_) + " levels");
    }
    if (member_ != nullptr && open_.empty() && !container.is_object()) {
      fail(offset(), "expected an object");
    }
    Json& at = place();
    at = std::move(container);
    open_.push_back(&at);
    return true;
  }

  bool close() {
    open_.pop_back();
    hand_over();
    return true;
  }

  // After a value is complete: gives it away if it is a member of the root.
  void hand_over() {
    if (member_ != nullptr && open_.size() == 1) (*member_)(member_name_, std::move(member_value_));
  }

  const char* begin_;
  const char* reached_;
  std::string_view subject_;
  int max_depth_;
  const Member* member_;
  std::string member_name_;
  Json member_value_;
  Json root_;
  Json* value_ = nullptr;    // of the key last read
  std::vector<Json*> open_;  // containers around what comes next; only the innermost grows
};

std::string describe(const Json& value) {
  constexpr std::size_t kMaxShown = 60;
  if (value.is_structured()) return value.type_name();
  std::string text = value.dump(-1, ' ', true, Json::error_handler_t::replace);
  if (text.size() > kMaxShown) text = text.substr(0, kMaxShown) + "…";
  return text;
}

void run(Builder& builder, std::string_view text) {
  // The parser skips a byte order mark, which JSON does not allow, and takes a zero byte for the
  // end.
  if (text.starts_with("\xEF\xBB\xBF")) builder.fail(0, "a byte order mark");
  if (const auto zero = text.find('\0'); zero != text.npos) builder.fail(zero, "a zero byte");
  const CountingIterator first(text.data(), builder.reached());
  const CountingIterator last(text.data() + text.size(), builder.reached());
  Json::sax_parse(first, last, &builder);
}

}  // namespace

Json parse_json(std::string_view text, std::string_view subject, int max_depth) {
  Builder builder(text, subject, max_depth);
  run(builder, text);
  return builder.take();
}

void parse_json_members(std::string_view text, std::string_view subject, const Member& member,
                        int max_depth) {
  Builder builder(text, subject, max_depth, &member);
  run(builder, text);
}

std::string quote_non_finite(std::string_view text) {
  constexpr std::string_view kNames[] = {"NaN", "Infinity", "-Infinity"};
  std::string out;
  out.reserve(text.size() + 2);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '"') in_string = !in_string;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      out += text.substr(i++, 2);
      continue;
    }
    const auto* name = in_string || (c != 'N' && c != 'I' && c != '-')
                           ? std::end(kNames)
                           : std::ranges::find_if(kNames, [&](std::string_view candidate) {
                               return text.substr(i).starts_with(candidate);
                             });
    if (name == std::end(kNames)) {
      out += c;
    } else {
      out += '"' + std::string(*name) + '"';
      i += name->size() - 1;
    }
  }
  return out;
}

Json read_json_file(const std::filesystem::path& path, int max_depth) {
  return parse_json(read_file(path), path.native(), max_depth);
}

JsonObject::JsonObject(const Json& object, std::string subject, std::string path)
    : object_(&object), subject_(std::move(subject)), path_(std::move(path)) {
  if (!object.is_object()) {
    std::string key = path_.empty() ? "" : path_.substr(0, path_.size() - 1) + ": ";
    throw Error(ErrorCode::kCorrupt, subject_,
                key + "expected an object, found " + describe(object));
  }
}

void JsonObject::fail(std::string_view key, std::string_view problem) const {
  throw Error(ErrorCode::kCorrupt, subject_,
              path_ + std::string(key) + ": " + std::string(problem));
}

const Json* JsonObject::find(std::string_view key) const {
  const auto entry = object_->find(key);
  return entry == object_->end() || entry->is_null() ? nullptr : &*entry;
}

bool JsonObject::has(std::string_view key) const { return find(key) != nullptr; }

const Json& JsonObject::at(std::string_view key) const {
  const Json* value = find(key);
  if (value == nullptr) fail(key, object_->contains(key) ? "is null" : "is missing");
  return *value;
}

std::int64_t JsonObject::integer(std::string_view key) const {
  const Json& value = at(key);
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number <= INT64_MAX) return static_cast<std::int64_t>(number);
  } else if (value.is_number_integer()) {
    return value.get<std::int64_t>();
  } else if (value.is_number_float()) {
    constexpr double kLimit = 9007199254740992.0;  // 2^53: beyond it a double skips integers
    const auto number = value.get<double>();
    if (std::abs(number) <= kLimit && number == std::trunc(number)) {
      return static_cast<std::int64_t>(number);
    }
  }
  fail(key, "expected an integer, found " + describe(value));
}

double JsonObject::number(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_number() || !std::isfinite(value.get<double>())) {
    fail(key, "expected a number, found " + describe(value));
  }
  return value.get<double>();
}

bool JsonObject::boolean(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_boolean()) fail(key, "expected true or false, found " + describe(value));
  return value.get<bool>();
}

const std::string& JsonObject::string(std::string_view key) const {
  const Json& value = at(key);
  if (!value.is_string()) fail(key, "expected a string, found " + describe(value));
  return value.get_ref<const std::string&>();
}

JsonObject JsonObject::object(std::string_view key) const {
  return JsonObject(at(key), subject_, path_ + std::string(key) + '.');
}

std::int64_t JsonObject::integer_or(std::string_view key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

double JsonObject::number_or(std::string_view key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool JsonObject::boolean_or(std::string_view key, bool fallback) const {
  return has(key) ? boolean(key) : fallback;
}

std::string JsonObject::string_or(std::string_view key, std::string_view fallback) const {
  return has(key) ? string(key) : std::string(fallback);
}

std::optional<JsonObject> JsonObject::object_if(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return object(key);
}

}  // namespace quire
