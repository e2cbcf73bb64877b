// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "text/jinja/value.h"

namespace quire {

// Named texts that a template sees as variables: bos_token, eos_token, ….
using TemplateVariables = std::vector<std::pair<std::string, std::string>>;

// The variables a conversation is rendered with, following transformers' conventions: null keys of
// a message are dropped; the first present of reasoning_content, thinking and reasoning fills
// reasoning_content, and thinking unless the message has its own; tools and documents are none
// when not given; kwargs count over the tokens' texts.
//
// Throws Error kInvalidArgument for JSON that does not parse or is of the wrong kind, or a final
// message that cannot be continued.
class Conversation {
 public:
  Conversation(std::span<const Message> messages, const RenderOptions& options,
               const TemplateVariables& tokens);

  jinja::Value context() const { return jinja::dict_value(context_); }
  bool has_tools() const { return has_tools_; }

  // With continue_final_message: the text up to where the final message ends; else the text.
  // Throws Error kTemplate when the template dropped the final message.
  std::string finish(std::string text) const;

 private:
  void mark_final_message(jinja::List& messages);

  std::shared_ptr<jinja::DictObject> context_ = jinja::make_dict();
  bool has_tools_ = false;
  std::optional<std::string> final_text_;
};

}  // namespace quire
