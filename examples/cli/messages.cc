// SPDX-License-Identifier: Apache-2.0
#include "messages.h"

#include <string>
#include <string_view>

namespace cli {
namespace {

quire::Message message_of(std::string_view text) {
  const Fields fields{std::string(text)};
  quire::Message message;
  message.role = fields.text("role").value_or("");
  if (const Json* content = fields.find("content"); content && content->is_string()) {
    message.content = content->get<std::string>();
  }
  message.fields_json = std::string(text);
  return message;
}

}  // namespace

std::vector<quire::Message> messages_of(const Fields& line) {
  const Json* list = line.find("messages");
  if (!list) return {};
  if (!list->is_array()) line.wrong("messages", "a list of messages");
  std::vector<quire::Message> messages;
  for (const std::string_view text : elements(line.raw("messages"))) {
    messages.push_back(message_of(text));
  }
  return messages;
}

}  // namespace cli
