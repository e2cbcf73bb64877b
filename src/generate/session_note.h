// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/chat.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// A conversation as the note of its snapshot: JSON, a list of messages.
std::string note_of(std::span<const Message> messages);

// Throws Error kInvalidArgument, naming `subject`, for a note that is none.
std::vector<Message> messages_of_note(const std::string& note, std::string_view subject);

}  // namespace quire
