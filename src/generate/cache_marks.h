// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>
#include <quire/request.h>
#include <quire/token.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "generate/chat_prompt.h"

namespace quire {

// Where a mark stands: at the end of a message, or of one of its parts that is not the last.
struct MarkPlace {
  std::size_t message = 0;
  std::optional<std::size_t> part = std::nullopt;
  std::size_t offset = 0;  // bytes of the parts up to this one, should they be joined
  std::chrono::milliseconds ttl{};
};

// A conversation without its marks, and the marks, in order.
struct MarkedMessages {
  std::vector<Message> messages;
  std::vector<MarkPlace> places;
};

inline constexpr std::size_t kMostMarks = 4;

// Takes the marks out: Message::cache_control, and "cache_control" of a message's JSON or of a part
// of its content. Throws Error kInvalidArgument for one of another form, and for more of them than
// kMostMarks.
MarkedMessages take_marks(std::span<const Message> messages);

// take_marks, with contents that are lists of texts joined if the template reads only texts.
MarkedMessages prepare(const ChatPrompt& chat, std::span<const Message> messages);

// The message with `mark` at the end of its text, or of a part's; none where there is no text.
std::optional<Message> with_mark(Message message, const MarkPlace& place, std::string_view mark);

// As the template sees them; empty where that is no text.
std::string role_of(const Message& message);
std::string text_of(const Message& message);

struct TokenMark {
  std::int64_t tokens = 0;  // that it covers
  std::chrono::milliseconds ttl{};
};

// What the marks cover of `ids`, which are the conversation's: ascending, and of several that cover
// as much only the last. A mark covers what the conversation up to it is rendered and tokenised to,
// as far as `ids` begin with that.
std::vector<TokenMark> token_marks(const ChatPrompt& chat, const MarkedMessages& marked,
                                   const RenderOptions& options, std::span<const TokenId> ids);

// Those of a request whose prompt is `ids`; none unless it is one of messages without a cache or
// snapshot.
std::vector<TokenMark> token_marks(const ChatPrompt& chat, const Request& request,
                                   std::span<const TokenId> ids);

}  // namespace quire
