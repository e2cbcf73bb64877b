// SPDX-License-Identifier: Apache-2.0
// /v1/chat/completions
#include <algorithm>
#include <limits>
#include <utility>

#include "api_error.h"
#include "event_stream.h"
#include "openai.h"
#include "openai_fields.h"
#include "openai_logprobs.h"
#include "request_fields.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

std::optional<std::int64_t> limit_of(const Fields& body) {
  const auto limit = integer_of(body, "max_completion_tokens", 1, kAny);
  return limit ? limit : integer_of(body, "max_tokens", 1, kAny);
}

Json whole(const Engine& engine, const quire::Result& result, std::optional<int> logprobs) {
  Json choices = Json::array();
  for (const quire::Choice& choice : choices_of(result)) {
    Json steps;
    if (logprobs) steps = chat_logprobs(*engine.model().tokenizer(), choice, *logprobs);
    choices.push_back(
        {{"index", choices.size()},
         {"message", {{"role", "assistant"}, {"content", choice.text}, {"refusal", nullptr}}},
         {"logprobs", std::move(steps)},
         {"finish_reason", openai_reason(choice.finish_reason)}});
  }
  Json answer = envelope("chat.completion", new_id("chatcmpl-"), engine);
  answer["choices"] = std::move(choices);
  answer["usage"] = openai_usage(result.usage);
  answer["quire"] = engine.report(result);
  return answer;
}

// The chunks of one streamed answer.
class ChatChunks {
 public:
  explicit ChatChunks(const Engine& engine)
      : head_(envelope("chat.completion.chunk", new_id("chatcmpl-"), engine)) {}

  Json with(std::size_t index, Json delta, Json finish_reason = nullptr) const {
    Json chunk = head_;
    chunk["choices"] = Json::array({{{"index", index},
                                     {"delta", std::move(delta)},
                                     {"logprobs", nullptr},
                                     {"finish_reason", std::move(finish_reason)}}});
    return chunk;
  }

  Json with_usage(const quire::Usage& usage) const {
    Json chunk = head_;
    chunk["choices"] = Json::array();
    chunk["usage"] = openai_usage(usage);
    return chunk;
  }

 private:
  Json head_;
};

void stream(Engine& engine, const quire::Request& request, bool include_usage,
            EventStream& events) {
  const ChatChunks chunks(engine);
  for (int i = 0; i < request.n; ++i) {
    events.send(chunks.with(static_cast<std::size_t>(i), {{"role", "assistant"}, {"content", ""}}));
  }
  const quire::Result result = engine.run(request, [&](std::string_view text) {
    return events.try_send(chunks.with(0, {{"content", text}}));
  });
  const std::vector<quire::Choice> choices = choices_of(result);
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (request.n > 1) events.send(chunks.with(i, {{"content", choices[i].text}}));
    Json last = chunks.with(i, Json::object(), openai_reason(choices[i].finish_reason));
    if (i + 1 == choices.size()) last["quire"] = engine.report(result);
    events.send(last);
  }
  if (include_usage) events.send(chunks.with_usage(result.usage));
  events.send_done();
}

}  // namespace

Reply chat_completions(Engine& engine, const Call& call) {
  const Fields body = body_of(call);
  check_model(body, engine.options().model_id);
  quire::Request request = generation_of(body, engine);
  request.messages = checked_messages(body);
  request.tools_json = std::string(body.raw("tools"));
  const StreamOptions options = stream_options_of(body);
  const std::optional<int> logprobs = chat_logprobs_of(body);
  request.logprobs = reported_logprobs(logprobs);
  engine.prepare(request, call, limit_of(body));
  std::shared_ptr<void> place = engine.places().take();
  if (!options.stream) return json_reply(whole(engine, engine.run(request), logprobs));
  return event_stream(false, std::move(place),
                      [&engine, request = std::move(request), options](EventStream& events) {
                        stream(engine, request, options.include_usage, events);
                      });
}

}  // namespace server
