// SPDX-License-Identifier: Apache-2.0
#include "generate/cache_marks.h"

#include <quire/error.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>

#include "generate/text_difference.h"

namespace quire {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::milliseconds;

constexpr const char* kKey = "cache_control";

[[noreturn]] void refuse(std::string_view expected, const std::string& found) {
  throw Error(ErrorCode::kInvalidArgument, kKey,
              "expected " + std::string(expected) + ", found " + found);
}

std::optional<std::int64_t> seconds_of(std::string_view unit) {
  if (unit.empty() || unit == "s") return 1;
  if (unit == "m") return 60;
  if (unit == "h") return 60 * 60;
  if (unit == "d") return 24 * 60 * 60;
  return std::nullopt;
}

// "5m", "1h", "30s", "2d", or a number of seconds.
milliseconds ttl_of(const Json& ttl) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const std::string text = ttl.is_string() ? ttl.get<std::string>() : ttl.dump();
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto unit = seconds_of(std::string_view(end, text.data() + text.size()));
  if (error != std::errc() || !unit || number < 1 || number > kMost / *unit) {
    refuse("a ttl like \"5m\" or \"1h\"", text);
  }
  return milliseconds(number * *unit * 1000);
}

// Takes the mark out of a message or part.
std::optional<milliseconds> take_mark(Json& object) {
  if (!object.is_object() || !object.contains(kKey)) return std::nullopt;
  const Json mark = object[kKey];
  object.erase(kKey);
  if (mark.is_null()) return std::nullopt;
  if (!mark.is_object()) refuse("an object", mark.dump());
  const Json type = mark.value("type", Json("ephemeral"));
  if (type != "ephemeral") refuse("the type \"ephemeral\"", type.dump());
  if (!mark.contains("ttl") || mark["ttl"].is_null()) return CacheControl().ttl;
  return ttl_of(mark["ttl"]);
}

Json* content_of(Json& fields) {
  const auto content = fields.is_object() ? fields.find("content") : fields.end();
  return content == fields.end() || content->is_null() ? nullptr : &*content;
}

std::string* text_of(Json& part) {
  const auto text = part.is_object() ? part.find("text") : part.end();
  return text == part.end() || !text->is_string() ? nullptr : text->get_ptr<std::string*>();
}

// The marks of a message's JSON; one of the last part is the message's own.
std::optional<milliseconds> take_marks(Json& fields, std::size_t message,
                                       std::vector<MarkPlace>& places) {
  std::optional<milliseconds> own = take_mark(fields);
  Json* content = content_of(fields);
  if (!content || !content->is_array()) return own;
  std::size_t offset = 0;
  for (std::size_t i = 0; i < content->size(); ++i) {
    Json& part = (*content)[i];
    const std::optional<milliseconds> ttl = take_mark(part);
    if (const std::string* text = text_of(part)) offset += text->size();
    if (!ttl) continue;
    if (i + 1 == content->size()) {
      own = ttl;
    } else {
      places.push_back({message, i, offset, *ttl});
    }
  }
  return own;
}

std::int64_t common(std::span<const TokenId> a, std::span<const TokenId> b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

class MarkFinder {
 public:
  MarkFinder(const ChatPrompt& chat, const std::vector<Message>& messages,
             const RenderOptions& options, std::span<const TokenId> ids)
      : chat_(chat),
        messages_(messages),
        options_(options),
        ids_(ids),
        mark_(unused_mark(messages, options)) {}

  // Tokens up to the place.
  std::int64_t covered(const MarkPlace& place) const {
    if (!place.part) {
      if (const auto tokens = by_beginning(place)) return *tokens;
    }
    const auto message = with_mark(messages_[place.message], place, mark_);
    if (!message) return 0;
    std::vector<Message> all = messages_;
    all[place.message] = *message;
    const std::string marked = chat_.render(all, options_);
    if (marked.find(mark_) == std::string::npos) return 0;
    const std::string text = chat_.render(messages_, options_);
    return common(chat_.encode(std::string_view(text).substr(0, common_bytes(text, marked))), ids_);
  }

 private:
  // The conversation that ends with the message, if the template renders that to the beginning of
  // the whole one, the message's text included. (Some put a system prompt into what follows it.)
  std::optional<std::int64_t> by_beginning(const MarkPlace& place) const {
    std::vector<Message> beginning(
        messages_.begin(), messages_.begin() + static_cast<std::ptrdiff_t>(place.message) + 1);
    RenderOptions options = options_;
    options.add_generation_prompt = false;
    try {
      const TokenIds ids = chat_.ids(beginning, options);
      if (common(ids, ids_) != std::ssize(ids)) return std::nullopt;
      if (auto message = with_mark(beginning.back(), place, mark_)) {
        beginning.back() = std::move(*message);
        if (chat_.render(beginning, options).find(mark_) == std::string::npos) return std::nullopt;
      }
      return std::ssize(ids);
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kTemplate) throw;
      return std::nullopt;  // it insists on what comes after
    }
  }

  const ChatPrompt& chat_;
  const std::vector<Message>& messages_;
  const RenderOptions& options_;
  std::span<const TokenId> ids_;
  std::string mark_;
};

void join_parts(std::vector<Message>& messages) {
  for (Message& message : messages) {
    Json fields = Json::parse(message.fields_json, nullptr, /*allow_exceptions=*/false);
    Json* content = content_of(fields);
    if (!content || !content->is_array() || content->empty()) continue;
    std::string joined;
    const bool texts = std::ranges::all_of(*content, [&](Json& part) {
      const std::string* text = text_of(part);
      if (text) joined += *text;
      return text && part.value("type", Json("text")) == "text";
    });
    if (!texts) continue;
    *content = joined;
    message.fields_json = fields.dump();
  }
}

std::string member_of(const Message& message, const char* key, const std::string& otherwise) {
  const Json fields = Json::parse(message.fields_json, nullptr, /*allow_exceptions=*/false);
  if (!fields.is_object() || !fields.contains(key)) return otherwise;
  return fields[key].is_string() ? fields[key].get<std::string>() : std::string();
}

}  // namespace

std::string role_of(const Message& message) { return member_of(message, "role", message.role); }
std::string text_of(const Message& message) {
  return member_of(message, "content", message.content);
}

std::optional<Message> with_mark(Message message, const MarkPlace& place, std::string_view mark) {
  Json fields = message.fields_json.empty() ? Json() : Json::parse(message.fields_json);
  Json* content = content_of(fields);
  std::string* text = &message.content;
  if (content && content->is_string()) text = content->get_ptr<std::string*>();
  if (content && content->is_array()) {
    if (content->empty()) return std::nullopt;
    text = text_of((*content)[place.part.value_or(content->size() - 1)]);
  }
  if (text == nullptr || text->empty()) return std::nullopt;
  const bool joined = place.part && !(content && content->is_array());
  text->insert(joined ? std::min(place.offset, text->size()) : text->size(), mark);
  if (content) message.fields_json = fields.dump();
  return message;
}

MarkedMessages prepare(const ChatPrompt& chat, std::span<const Message> messages) {
  MarkedMessages marked = take_marks(messages);
  const bool lists = std::ranges::any_of(marked.messages, [](const Message& message) {
    return message.fields_json.find('[') != std::string::npos;
  });
  if (lists && !chat.reads_parts()) join_parts(marked.messages);
  return marked;
}

MarkedMessages take_marks(std::span<const Message> messages) {
  MarkedMessages out;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    Message message = messages[i];
    std::optional<milliseconds> own;
    if (message.cache_control) own = message.cache_control->ttl;
    message.cache_control.reset();
    if (message.fields_json.find(kKey) != std::string::npos) {
      Json fields = Json::parse(message.fields_json, nullptr, /*allow_exceptions=*/false);
      if (fields.is_discarded()) refuse("JSON in the message", message.fields_json);
      if (const auto ttl = take_marks(fields, i, out.places)) own = ttl;
      message.fields_json = fields.dump();
    }
    if (own && own->count() < 1) refuse("a ttl above 0", std::to_string(own->count()) + " ms");
    if (own) out.places.push_back({.message = i, .ttl = *own});
    out.messages.push_back(std::move(message));
  }
  if (out.places.size() > kMostMarks) {
    refuse("at most " + std::to_string(kMostMarks) + " marks", std::to_string(out.places.size()));
  }
  return out;
}

std::vector<TokenMark> token_marks(const ChatPrompt& chat, const MarkedMessages& marked,
                                   const RenderOptions& options, std::span<const TokenId> ids) {
  if (marked.places.empty()) return {};
  const MarkFinder finder(chat, marked.messages, options, ids);
  std::vector<TokenMark> marks;
  for (const MarkPlace& place : marked.places) {
    marks.push_back({finder.covered(place), place.ttl});
  }
  std::ranges::stable_sort(marks, {}, &TokenMark::tokens);
  std::vector<TokenMark> out;
  for (const TokenMark& mark : marks) {
    if (!out.empty() && out.back().tokens == mark.tokens) out.pop_back();
    if (mark.tokens > 0) out.push_back(mark);
  }
  return out;
}

std::vector<TokenMark> token_marks(const ChatPrompt& chat, const Request& request,
                                   std::span<const TokenId> ids) {
  if (request.messages.empty() || request.cache || request.snapshot) return {};
  RenderOptions options;
  options.tools_json = request.tools_json;
  options.add_generation_prompt = true;
  return token_marks(chat, prepare(chat, request.messages), options, ids);
}

}  // namespace quire
