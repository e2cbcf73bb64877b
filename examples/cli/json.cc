// SPDX-License-Identifier: Apache-2.0
#include "json.h"

#include <limits>
#include <utility>

namespace cli {
namespace {

using quire::Error;
using quire::ErrorCode;

constexpr std::string_view kBlanks = " \t\r\n";

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

// Cuts the inside of a valid array or object at its own commas.
std::vector<std::string_view> split(std::string_view text) {
  text = trim(text);
  text = text.substr(1, text.size() - 2);
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      ++depth;
    } else if (c == ']' || c == '}') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(trim(text.substr(begin, i - begin)));
      begin = i + 1;
    }
  }
  const std::string_view last = trim(text.substr(begin));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

Json parse_object(const std::string& text) {
  Json value = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (value.is_discarded()) {
    throw Error(ErrorCode::kInvalidArgument, "input", "expected a JSON object, found invalid JSON");
  }
  if (!value.is_object()) {
    throw Error(ErrorCode::kInvalidArgument, "input",
                std::string("expected a JSON object, found ") + value.type_name());
  }
  return value;
}

}  // namespace

Fields::Fields(std::string text) : text_(std::move(text)), object_(parse_object(text_)) {}

const Json* Fields::find(std::string_view key) const {
  const auto it = object_.find(std::string(key));
  return it == object_.end() || it->is_null() ? nullptr : &*it;
}

void Fields::wrong(std::string_view key, std::string_view expected) const {
  const Json* value = find(key);
  std::string found = value ? value->dump(-1, ' ', false, Json::error_handler_t::replace) : "none";
  if (found.size() > 80) found = found.substr(0, 80) + "…";
  throw Error(ErrorCode::kInvalidArgument, key,
              "expected " + std::string(expected) + ", found " + found);
}

std::optional<std::string> Fields::text(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_string()) wrong(key, "a text");
  return value->get<std::string>();
}

std::optional<std::int64_t> Fields::integer(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number_integer()) wrong(key, "an integer");
  if (value->is_number_unsigned() &&
      value->get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    wrong(key, "an integer below 2^63");
  }
  return value->get<std::int64_t>();
}

std::optional<std::uint64_t> Fields::natural(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number_unsigned()) wrong(key, "an integer of at least 0");
  return value->get<std::uint64_t>();
}

std::optional<double> Fields::number(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_number()) wrong(key, "a number");
  return value->get<double>();
}

std::optional<bool> Fields::boolean(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_boolean()) wrong(key, "true or false");
  return value->get<bool>();
}

std::optional<std::vector<std::int32_t>> Fields::ids(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (!value->is_array()) wrong(key, "a list of token ids");
  std::vector<std::int32_t> ids;
  for (const Json& id : *value) {
    const bool valid = id.is_number_integer() && id.get<std::int64_t>() >= 0 &&
                       id.get<std::int64_t>() <= std::numeric_limits<std::int32_t>::max();
    if (!valid) wrong(key, "a list of token ids");
    ids.push_back(id.get<std::int32_t>());
  }
  return ids;
}

std::optional<std::vector<std::string>> Fields::texts(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return std::nullopt;
  if (value->is_string()) return std::vector<std::string>{value->get<std::string>()};
  if (!value->is_array()) wrong(key, "a list of texts");
  std::vector<std::string> texts;
  for (const Json& item : *value) {
    if (!item.is_string()) wrong(key, "a list of texts");
    texts.push_back(item.get<std::string>());
  }
  return texts;
}

std::string_view Fields::raw(std::string_view key) const {
  const Json* value = find(key);
  if (!value) return {};
  if (!value->is_structured()) wrong(key, "a JSON object or array");
  std::string_view found;
  for (const std::string_view member : split(text_)) {
    // The key is a valid JSON string, which ends at the first quote that is not escaped.
    std::size_t end = 1;
    while (member[end] != '"') end += member[end] == '\\' ? 2 : 1;
    if (Json::parse(member.substr(0, end + 1)).get<std::string>() != key) continue;
    found = trim(member.substr(member.find(':', end) + 1));
  }
  return found;
}

std::vector<std::string_view> elements(std::string_view array) { return split(array); }

}  // namespace cli
