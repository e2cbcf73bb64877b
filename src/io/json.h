// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace quire {

// JSON of files nobody should trust: bounded depth, valid UTF-8, no duplicate keys, no trailing
// text. Objects are ordered by key; where a file's own order matters, parse it yourself.
using Json = nlohmann::json;

// `subject` names the text in errors. Throws Error kCorrupt with the byte offset.
Json parse_json(std::string_view text, std::string_view subject, int max_depth = 100);

// Parses a text that is one object and hands over its members one at a time, so that a long one is
// never held whole. Throws as parse_json. Note: the caller must look for duplicate keys among them.
void parse_json_members(std::string_view text, std::string_view subject,
                        const std::function<void(const std::string& key, Json value)>& member,
                        int max_depth = 100);

// Python's json writes NaN, Infinity and -Infinity, which JSON lacks. Returns `text` with those
// that stand for a value turned into strings ("NaN"), so that only who reads one as a number minds.
std::string quote_non_finite(std::string_view text);

// Throws Error kNotFound, kIo, or kCorrupt as parse_json.
Json read_json_file(const std::filesystem::path& path, int max_depth = 100);

// Typed access to one JSON object. Each getter throws Error kCorrupt naming subject and key, what
// was expected and what was found, when the key is missing (required ones) or of the wrong type;
// an optional getter takes null for absent. Borrows the object.
class JsonObject {
 public:
  // `path` is put before keys in messages ("rope_parameters."); empty at the top.
  JsonObject(const Json& object, std::string subject, std::string path = {});

  bool has(std::string_view key) const;  // present and not null
  const Json& at(std::string_view key) const;
  const Json* find(std::string_view key) const;  // nullptr when absent or null

  std::int64_t integer(std::string_view key) const;  // accepts 3 and 3.0, refuses 3.5 and "3"
  double number(std::string_view key) const;         // finite
  bool boolean(std::string_view key) const;
  const std::string& string(std::string_view key) const;
  JsonObject object(std::string_view key) const;

  std::int64_t integer_or(std::string_view key, std::int64_t fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  std::string string_or(std::string_view key, std::string_view fallback) const;
  std::optional<JsonObject> object_if(std::string_view key) const;

  // Throws Error kCorrupt about `key` of this object.
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

  const Json& json() const { return *object_; }
  const std::string& subject() const { return subject_; }

 private:
  const Json* object_;
  std::string subject_;
  std::string path_;
};

}  // namespace quire
