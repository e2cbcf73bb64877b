// SPDX-License-Identifier: Apache-2.0
// /v1/messages and /v1/messages/count_tokens
#include "anthropic.h"

#include <quire/error.h>

#include <limits>
#include <utility>

#include "api_error.h"
#include "event_stream.h"
#include "request_fields.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

[[noreturn]] void refuse(std::string_view field, const std::string& problem) {
  throw quire::Error(quire::ErrorCode::kInvalidArgument, field, problem);
}

// A content is a text, or blocks of which some carry a mark.
quire::Message message_of(const std::string& role, const Json& content) {
  if (content.is_string()) return {role, content.get<std::string>()};
  if (!content.is_array()) refuse("content", "expected a text or a list of blocks");
  check_parts(content);
  Json parts = Json::array();
  for (const Json& block : content) {
    Json part = {{"type", "text"}, {"text", block.at("text")}};
    if (block.contains("cache_control")) part["cache_control"] = block.at("cache_control");
    parts.push_back(std::move(part));
  }
  const Json fields = {{"role", role}, {"content", std::move(parts)}};
  return {.role = role, .content = {}, .fields_json = to_text(fields)};
}

std::vector<quire::Message> messages_of(const Fields& body) {
  std::vector<quire::Message> messages;
  if (const Json* system = body.find("system")) {
    messages.push_back(message_of("system", *system));
  }
  const Json* list = body.find("messages");
  if (!list || !list->is_array() || list->empty()) {
    refuse("messages", "expected a list of at least one message");
  }
  for (const Json& message : *list) {
    const Fields fields(to_text(message));
    const std::string role = fields.text("role").value_or("");
    if (role != "user" && role != "assistant") {
      refuse("messages", "expected the role user or assistant, found \"" + role +
                             "\"; a system prompt is the member \"system\"");
    }
    const Json* content = fields.find("content");
    if (!content) refuse("messages", "expected a content, found none");
    messages.push_back(message_of(role, *content));
  }
  return messages;
}

// A mark of the whole request is one at the end of its last message.
void mark(quire::Message& message, const Json& cache_control) {
  Json fields = message.fields_json.empty() ? Json::object() : Json::parse(message.fields_json);
  fields["cache_control"] = cache_control;
  message.fields_json = to_text(fields);
}

quire::Request request_of(const Fields& body, const Engine& engine) {
  constexpr double kMostTemperature = 1;
  if (const Json* tools = body.find("tools"); tools && !tools->empty()) {
    refuse("tools", "expected none, since this server cannot call any");
  }
  quire::Request request;
  request.messages = messages_of(body);
  if (const Json* whole = body.find("cache_control")) mark(request.messages.back(), *whole);
  request.sampling = sampling_of(body, engine.model(), kMostTemperature);
  request.stop = stop_of(body, "stop_sequences");
  request.reuse = reuse_of(body);
  return request;
}

std::string_view stop_reason(const quire::Choice& choice) {
  if (choice.finish_reason == quire::FinishReason::kLength) return "max_tokens";
  return choice.stop.empty() ? "end_turn" : "stop_sequence";
}

Json stop_sequence(const quire::Choice& choice) {
  return choice.stop.empty() ? Json() : Json(choice.stop);
}

Json usage_json(const quire::Usage& usage) {
  return {{"input_tokens", usage.uncached_tokens},
          {"cache_creation_input_tokens", usage.cache_creation_tokens},
          {"cache_read_input_tokens", usage.cache_read_tokens},
          {"output_tokens", usage.completion_tokens}};
}

Json message_json(const Engine& engine, Json content, Json reason, Json stop, Json usage) {
  return {{"id", new_id("msg_")},
          {"type", "message"},
          {"role", "assistant"},
          {"model", engine.options().model_id},
          {"content", std::move(content)},
          {"stop_reason", std::move(reason)},
          {"stop_sequence", std::move(stop)},
          {"usage", std::move(usage)}};
}

Json whole(const Engine& engine, const quire::Result& result) {
  const Json content = Json::array({{{"type", "text"}, {"text", result.text}}});
  Json answer = message_json(engine, content, stop_reason(result), stop_sequence(result),
                             usage_json(result.usage));
  answer["quire"] = engine.report(result);
  return answer;
}

void stream(Engine& engine, const quire::Request& request, std::int64_t prompt_tokens,
            EventStream& events) {
  const auto send = [&](std::string_view type, Json members) {
    Json event = {{"type", type}};
    event.update(members);
    return events.try_send(event, type);
  };
  const auto must_send = [&](std::string_view type, Json members) {
    if (!send(type, std::move(members))) throw ClientGone();
  };
  const quire::Usage start = {.uncached_tokens = prompt_tokens};
  must_send(
      "message_start",
      {{"message", message_json(engine, Json::array(), nullptr, nullptr, usage_json(start))}});
  must_send("content_block_start",
            {{"index", 0}, {"content_block", {{"type", "text"}, {"text", ""}}}});
  const quire::Result result = engine.run(request, [&](std::string_view text) {
    return send("content_block_delta",
                {{"index", 0}, {"delta", {{"type", "text_delta"}, {"text", text}}}});
  });
  must_send("content_block_stop", {{"index", 0}});
  must_send(
      "message_delta",
      {{"delta", {{"stop_reason", stop_reason(result)}, {"stop_sequence", stop_sequence(result)}}},
       {"usage", usage_json(result.usage)},
       {"quire", engine.report(result)}});
  must_send("message_stop", Json::object());
}

}  // namespace

Reply messages(Engine& engine, const Call& call) {
  const Fields body = body_of(call);
  check_model(body, engine.options().model_id);
  quire::Request request = request_of(body, engine);
  const auto limit = integer_of(body, "max_tokens", 1, std::numeric_limits<std::int64_t>::max());
  if (!limit) refuse("max_tokens", "expected an integer of at least 1, found none");
  const bool streamed = body.boolean("stream").value_or(false);
  const std::int64_t prompt_tokens = engine.prepare(request, call, limit);
  std::shared_ptr<void> place = engine.places().take();
  if (!streamed) return json_reply(whole(engine, engine.run(request)));
  return event_stream(true, std::move(place),
                      [&engine, request = std::move(request), prompt_tokens](EventStream& events) {
                        stream(engine, request, prompt_tokens, events);
                      });
}

Reply count_tokens(Engine& engine, const Call& call) {
  const Fields body = body_of(call);
  check_model(body, engine.options().model_id);
  const quire::Request request = request_of(body, engine);
  return json_reply({{"input_tokens", std::ssize(engine.generator().tokenize(request))}});
}

}  // namespace server
