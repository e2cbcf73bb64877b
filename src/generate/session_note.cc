// SPDX-License-Identifier: Apache-2.0
#include "generate/session_note.h"

#include <quire/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quire {
namespace {

using nlohmann::json;

constexpr const char* kKeys[] = {"role", "content", "fields"};

}  // namespace

std::string note_of(std::span<const Message> messages) {
  json list = json::array();
  for (const Message& message : messages) {
    list.push_back(
        {{kKeys[0], message.role}, {kKeys[1], message.content}, {kKeys[2], message.fields_json}});
  }
  // Text that is not UTF-8 is read as U+FFFD by the tokenizer, too.
  return list.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::vector<Message> messages_of_note(const std::string& note, std::string_view subject) {
  const json list = json::parse(note, nullptr, /*allow_exceptions=*/false);
  const auto valid = [](const json& message) {
    return message.is_object() && std::ranges::all_of(kKeys, [&](const char* key) {
             return message.contains(key) && message[key].is_string();
           });
  };
  if (!list.is_array() || !std::ranges::all_of(list, valid)) {
    throw Error(ErrorCode::kInvalidArgument, subject,
                "expected a saved conversation, found another snapshot");
  }
  std::vector<Message> messages;
  for (const json& message : list) {
    messages.push_back({message[kKeys[0]].get<std::string>(), message[kKeys[1]].get<std::string>(),
                        message[kKeys[2]].get<std::string>()});
  }
  return messages;
}

}  // namespace quire
