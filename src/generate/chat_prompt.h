// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>
#include <quire/token.h>
#include <quire/tokenizer.h>

#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "generate/special_text.h"

namespace quire {

// A text that nothing of the conversation contains.
std::string unused_mark(std::span<const Message> messages, const RenderOptions& options);

// Renders a conversation with a chat template and tokenises it so that no text of a message or
// tool becomes a control token, whatever it spells.
//
// Ids are those of the rendered text as a whole, unless that would turn message text into a control
// token. To see whether it does, the conversation is rendered a second time with an otherwise
// unused character put into every spot of the messages that spells a control token or may begin
// one; the control tokens that are still there are the template's own. Then each stretch between
// these that holds such spots is tokenised as plain text.
//
// Thread-safety: ids may be called concurrently.
class ChatPrompt {
 public:
  ChatPrompt(std::shared_ptr<const Tokenizer> tokenizer,
             std::shared_ptr<const ChatTemplate> chat_template);

  // Throws Error: kTemplate, kInvalidArgument.
  TokenIds ids(std::span<const Message> messages, const RenderOptions& options) const;

  std::string render(std::span<const Message> messages, const RenderOptions& options) const {
    return template_->render(messages, options);
  }
  TokenIds encode(std::string_view text) const { return tokenizer_->encode(text); }

  // Whether the template reads a content that is a list of texts as it does the text alone.
  bool reads_parts() const;

 private:
  const SpecialText& special_text() const;
  TokenIds encode_marked(std::string_view text, std::string_view mark) const;

  std::shared_ptr<const Tokenizer> tokenizer_;
  std::shared_ptr<const ChatTemplate> template_;
  mutable std::once_flag special_text_once_;
  mutable std::unique_ptr<const SpecialText> special_text_;
};

}  // namespace quire
