// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/error.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace cli {

using Json = nlohmann::ordered_json;

// One request: a JSON object with typed access to its members. A member that is absent or null
// has no value; one of the wrong type is Error kInvalidArgument naming it. Keys that a command does
// not know are left alone, so that scripts may carry their own along.
//
// Values that go on to the library as JSON are passed as the text they came in, so that big
// integers, the order of keys and 1.0 survive.
class Fields {
 public:
  // Throws Error kInvalidArgument if `text` is no JSON object.
  explicit Fields(std::string text);

  bool has(std::string_view key) const { return find(key) != nullptr; }

  std::optional<std::string> text(std::string_view key) const;
  std::optional<std::int64_t> integer(std::string_view key) const;
  std::optional<std::uint64_t> natural(std::string_view key) const;
  std::optional<double> number(std::string_view key) const;
  std::optional<bool> boolean(std::string_view key) const;
  std::optional<std::vector<std::int32_t>> ids(std::string_view key) const;
  std::optional<std::vector<std::string>> texts(std::string_view key) const;  // or a single one

  // The member's own text; empty when absent. Throws unless it is an object or an array.
  std::string_view raw(std::string_view key) const;

  const Json* find(std::string_view key) const;  // nullptr when absent or null
  [[noreturn]] void wrong(std::string_view key, std::string_view expected) const;

 private:
  std::string text_;
  Json object_;
};

// The texts of an array's elements, of JSON known to be valid.
std::vector<std::string_view> elements(std::string_view array);

// Puts the value of an option that was given into the request.
template <typename T>
void put(Json& request, const std::string& key, const std::optional<T>& value) {
  if (value) request[key] = *value;
}

}  // namespace cli
