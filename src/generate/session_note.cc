// SPDX-License-Identifier: Apache-2.0
#include "generate/session_note.h"

#include <quire/error.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace quire {
namespace {

using nlohmann::json;

constexpr const char* kKeys[] = {"role", "content", "fields"};
constexpr const char* kTtl = "cache_ttl_ms";  // of a marked message

}  // namespace

std::string note_of(std::span<const Message> messages) {
  json list = json::array();
  for (const Message& message : messages) {
    json& kept = list.emplace_back(json{
        {kKeys[0], message.role}, {kKeys[1], message.content}, {kKeys[2], message.fields_json}});
    if (message.cache_control) kept[kTtl] = message.cache_control->ttl.count();
  }
  // Text that is not UTF-8 is read as U+FFFD by the tokenizer, too.
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<Message> messages_of_note(const std::string& note, std::string_view subject) {
  const json list = json::parse(note, nullptr, /*allow_exceptions=*/false);
  const auto valid = [](const json& message) {
    return message.is_object() &&
           std::ranges::all_of(kKeys,
                               [&](const char* key) {
                                 return message.contains(key) && message[key].is_string();
                               }) &&
           (!message.contains(kTtl) || message[kTtl].is_number_integer());
  };
  if (!list.is_array() || !std::ranges::all_of(list, valid)) {
    throw Error(ErrorCode::kInvalidArgument, subject,
                "expected a saved conversation, found another snapshot");
  }
  std::vector<Message> messages;
  for (const json& message : list) {
    messages.push_back({message[kKeys[0]].get<std::string>(), message[kKeys[1]].get<std::string>(),
                        message[kKeys[2]].get<std::string>()});
    if (!message.contains(kTtl)) continue;
    messages.back().cache_control =
        CacheControl{std::chrono::milliseconds(message[kTtl].get<std::int64_t>())};
  }
  return messages;
}

}  // namespace quire
