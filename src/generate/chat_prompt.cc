// SPDX-License-Identifier: Apache-2.0
#include "generate/chat_prompt.h"

#include <quire/error.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace quire {
namespace {

using OrderedJson = nlohmann::ordered_json;

// Rare but printable: Python's repr, which templates use, would escape others.
constexpr std::string_view kRare = "\U0002A6D5";

struct Conversation {
  std::vector<Message> messages;
  RenderOptions options;
};

bool holds(const Conversation& c, std::string_view text) {
  const auto in = [&](const std::string& s) { return s.find(text) != std::string::npos; };
  return in(c.options.tools_json) || in(c.options.documents_json) || in(c.options.kwargs_json) ||
         std::any_of(c.messages.begin(), c.messages.end(), [&](const Message& m) {
           return in(m.role) || in(m.content) || in(m.fields_json);
         });
}

void break_up_json(OrderedJson& value, const SpecialText& special, std::string_view mark) {
  if (value.is_string()) {
    value = special.break_up(value.get_ref<const std::string&>(), mark);
  } else if (value.is_structured()) {
    for (auto& item : value) break_up_json(item, special, mark);
  }
}

void break_up_json(std::string& text, const SpecialText& special, std::string_view mark) {
  if (text.empty()) return;
  OrderedJson value = OrderedJson::parse(text);
  break_up_json(value, special, mark);
  text = value.dump();
}

Conversation broken_up(Conversation c, const SpecialText& special, std::string_view mark) {
  for (Message& message : c.messages) {
    message.role = special.break_up(message.role, mark);
    message.content = special.break_up(message.content, mark);
    break_up_json(message.fields_json, special, mark);
  }
  break_up_json(c.options.tools_json, special, mark);
  break_up_json(c.options.documents_json, special, mark);
  return c;
}

std::string without(std::string_view text, std::string_view mark) {
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at; (at = text.find(mark, copied)) != std::string_view::npos;) {
    out.append(text, copied, at - copied);
    copied = at + mark.size();
  }
  return out.append(text, copied);
}

}  // namespace

std::string unused_mark(std::span<const Message> messages, const RenderOptions& options) {
  const Conversation conversation{{messages.begin(), messages.end()}, options};
  std::string mark(kRare);
  while (holds(conversation, mark)) mark += kRare;
  return mark;
}

bool ChatPrompt::reads_parts() const {
  const Message text = {"user", "Text."};
  Message parts;
  parts.fields_json = R"({"role": "user", "content": [{"type": "text", "text": "Text."}]})";
  try {
    return render({&parts, 1}, {}) == render({&text, 1}, {});
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kTemplate) throw;
    return false;
  }
}

ChatPrompt::ChatPrompt(std::shared_ptr<const Tokenizer> tokenizer,
                       std::shared_ptr<const ChatTemplate> chat_template)
    : tokenizer_(std::move(tokenizer)), template_(std::move(chat_template)) {}

const SpecialText& ChatPrompt::special_text() const {
  std::call_once(special_text_once_,
                 [&] { special_text_ = std::make_unique<SpecialText>(*tokenizer_); });
  return *special_text_;
}

TokenIds ChatPrompt::ids(std::span<const Message> messages, const RenderOptions& options) const {
  const std::string text = template_->render(messages, options);
  const Conversation plain{{messages.begin(), messages.end()}, options};
  const std::string mark = unused_mark(messages, options);
  const Conversation marked = broken_up(plain, special_text(), mark);
  if (!holds(marked, mark)) return tokenizer_->encode(text);

  const std::string marked_text = template_->render(marked.messages, marked.options);
  const bool all_the_templates_own =
      without(marked_text, mark) == text &&
      special_text().find(marked_text).size() == special_text().find(text).size();
  return all_the_templates_own ? tokenizer_->encode(text) : encode_marked(marked_text, mark);
}

TokenIds ChatPrompt::encode_marked(std::string_view text, std::string_view mark) const {
  TokenIds ids;
  const auto encode = [&](std::string_view part, bool parse_special) {
    if (part.empty()) return;
    const TokenIds more = tokenizer_->encode(part, {.parse_special = parse_special});
    ids.insert(ids.end(), more.begin(), more.end());
  };
  std::vector<SpecialText::Span> stops = special_text().find(text);
  stops.push_back({text.size(), 0});
  std::size_t trusted = 0;  // where text not yet encoded, and free of marks, begins
  std::size_t stretch = 0;  // where the stretch up to the next control token begins
  for (const auto& [begin, size] : stops) {
    const std::string_view between = text.substr(stretch, begin - stretch);
    if (between.find(mark) != std::string_view::npos) {
      encode(text.substr(trusted, stretch - trusted), true);
      encode(without(between, mark), false);
      trusted = begin;
    }
    stretch = begin + size;
  }
  encode(text.substr(trusted), true);
  return ids;
}

}  // namespace quire
