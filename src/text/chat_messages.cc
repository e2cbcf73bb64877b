// SPDX-License-Identifier: Apache-2.0
#include "text/chat_messages.h"

#include <quire/error.h>

#include "text/jinja/json.h"
#include "text/jinja/methods.h"

namespace quire {
namespace {

using jinja::DictObject;
using jinja::List;
using jinja::Value;

// Put behind the final message's text, to find where it ends; the space shows whether the template
// trims. A trimmed message ends before the mark's own trimmed spelling.
constexpr std::string_view kMark = "CONTINUE_FINAL_MESSAGE_TAG ";

[[noreturn]] void invalid(std::string_view subject, std::string_view problem) {
  throw Error(ErrorCode::kInvalidArgument, subject, problem);
}

Value parse(const std::string& json, std::string_view subject) {
  return json.empty() ? Value::none() : jinja::parse_json_value(json, subject);
}

// A list of objects, or none.
Value parse_list(const std::string& json, std::string_view subject) {
  Value list = parse(json, subject);
  if (list.is_none()) return list;
  if (list.kind() != jinja::Kind::kList) invalid(subject, "expected a JSON array");
  for (const Value& item : list.as_list()) {
    if (!item.is_dict()) invalid(subject, "expected an array of objects");
  }
  return list;
}

// The message's keys in their order, those of the fields' own JSON where it has them.
std::shared_ptr<DictObject> message_dict(const Message& message) {
  const Value fields = parse(message.fields_json, "message");
  if (!fields.is_none() && !fields.is_dict()) invalid("message", "fields must be a JSON object");
  auto dict = jinja::make_dict();
  const auto given = [&fields](std::string_view key) {
    return fields.is_dict() && fields.as_dict().find(key) != nullptr;
  };
  const bool alone = fields.is_none();
  if (!given("role") && (alone || !message.role.empty())) {
    dict->set(Value::text("role"), Value::text(message.role));
  }
  if (!given("content") && (alone || !message.content.empty())) {
    dict->set(Value::text("content"), Value::text(message.content));
  }
  if (fields.is_dict()) {
    for (const auto& [key, value] : fields.as_dict().items) {
      if (!value.is_none()) dict->set(key, value);
    }
  }
  return dict;
}

std::shared_ptr<DictObject> with_reasoning(std::shared_ptr<DictObject> message) {
  const Value* reasoning = nullptr;
  for (const std::string_view key : {"reasoning_content", "thinking", "reasoning"}) {
    if (reasoning == nullptr) reasoning = message->find(key);
  }
  if (reasoning == nullptr) return message;
  auto dict = jinja::make_dict();
  dict->set(Value::text("thinking"), *reasoning);
  for (const auto& [key, value] : message->items) dict->set(key, value);
  dict->set(Value::text("reasoning_content"), *reasoning);
  return dict;
}

Value with_entry(const Value& dict, std::string_view key, Value value) {
  auto copy = jinja::make_dict();
  for (const auto& [k, v] : dict.as_dict().items) copy->set(k, v);
  copy->set(Value::text(std::string(key)), std::move(value));
  return jinja::dict_value(std::move(copy));
}

Value marked(const Value& text) { return Value::text(text.as_string() + std::string(kMark)); }

// Content parts with the mark behind the last text; that text goes to `final_text`.
Value marked_parts(const Value& content, std::string& final_text) {
  List parts = content.as_list();
  for (std::size_t i = parts.size(); i-- > 0;) {
    const Value* text = parts[i].is_dict() ? parts[i].as_dict().find("text") : nullptr;
    if (text == nullptr || !text->is_text()) continue;
    final_text = text->as_string();
    parts[i] = with_entry(parts[i], "text", marked(*text));
    return Value::list(std::move(parts));
  }
  invalid("continue_final_message", "the final message has no text to continue");
}

std::string stripped(std::string_view text) { return jinja::strip(text, nullptr, true, true); }

}  // namespace

Conversation::Conversation(std::span<const Message> messages, const RenderOptions& options,
                           const TemplateVariables& tokens) {
  List list;
  for (const Message& message : messages) {
    list.push_back(jinja::dict_value(with_reasoning(message_dict(message))));
  }
  if (options.continue_final_message) {
    if (options.add_generation_prompt) {
      invalid("continue_final_message", "cannot be combined with add_generation_prompt");
    }
    mark_final_message(list);
  }
  const auto set = [this](std::string_view key, Value value) {
    context_->set(Value::text(std::string(key)), std::move(value));
  };
  const Value tools = parse_list(options.tools_json, "tools");
  has_tools_ = !tools.is_none();
  set("messages", Value::list(std::move(list)));
  set("tools", tools);
  set("documents", parse_list(options.documents_json, "documents"));
  set("add_generation_prompt", Value::boolean(options.add_generation_prompt));
  for (const auto& [key, text] : tokens) set(key, Value::text(text));
  const Value kwargs = parse(options.kwargs_json, "kwargs");
  if (kwargs.is_none()) return;
  if (!kwargs.is_dict()) invalid("kwargs", "expected a JSON object");
  for (const auto& [key, value] : kwargs.as_dict().items) context_->set(key, value);
}

void Conversation::mark_final_message(List& messages) {
  if (messages.empty()) invalid("continue_final_message", "there is no message to continue");
  const Value* content = messages.back().as_dict().find("content");
  if (content == nullptr) {
    invalid("continue_final_message", "the final message has no content to continue");
  }
  Value with_mark;
  if (content->is_text()) {
    final_text_ = content->as_string();
    with_mark = marked(*content);
  } else if (content->is_sequence()) {
    with_mark = marked_parts(*content, final_text_.emplace());
  } else {
    invalid("continue_final_message", "the final message's content is neither text nor parts");
  }
  messages.back() = with_entry(messages.back(), "content", with_mark);
}

std::string Conversation::finish(std::string text) const {
  if (!final_text_) return text;
  const std::string mark = stripped(kMark);
  const std::size_t at = text.rfind(mark);
  const bool shown = jinja::find_first(text, stripped(*final_text_)) != std::string::npos;
  if (at == std::string::npos || !shown) {
    throw Error(ErrorCode::kTemplate, "continue_final_message",
                "the template does not show the final message as it stands");
  }
  const bool spacing_kept = text.compare(at, kMark.size(), kMark) == 0;
  text.resize(at);
  return spacing_kept ? text : jinja::strip(text, nullptr, false, true);
}

}  // namespace quire
