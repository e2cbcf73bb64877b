// SPDX-License-Identifier: Apache-2.0
// /v1/completions
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

constexpr std::size_t kMostPrompts = 128;
constexpr std::int64_t kDefaultTokens = 16;  // the API's

bool is_ids(const Json& value) {
  return value.is_array() && !value.empty() && value.front().is_number();
}

// A text or token ids, as one element of "prompt".
quire::Request with_prompt(quire::Request request, const Json& prompt) {
  const Fields one(Json{{"prompt", prompt}}.dump());
  if (is_ids(prompt)) {
    request.ids = one.ids("prompt");
  } else {
    request.prompt = one.text("prompt");
  }
  return request;
}

// One request a prompt: "prompt" is a text, token ids or a list of either.
std::vector<quire::Request> requests_of(const Fields& body, const quire::Request& request) {
  const Json* prompt = body.find("prompt");
  if (!prompt) throw ApiError(400, "prompt: expected one, found none", {}, "prompt");
  if (!prompt->is_array() || is_ids(*prompt)) return {with_prompt(request, *prompt)};
  if (prompt->empty() || prompt->size() > kMostPrompts) {
    throw ApiError(400,
                   "prompt: expected from 1 to " + std::to_string(kMostPrompts) + ", found " +
                       std::to_string(prompt->size()),
                   {}, "prompt");
  }
  std::vector<quire::Request> requests;
  for (const Json& one : *prompt) requests.push_back(with_prompt(request, one));
  return requests;
}

struct CompletionCall {
  std::vector<quire::Request> requests;
  StreamOptions options;
  bool echo = false;
  std::optional<int> logprobs = std::nullopt;
};

// What is told in words needs a tokenizer.
void check_texts(const CompletionCall& call, const quire::Model& model) {
  if (model.tokenizer()) return;
  for (const auto& [field, asked] :
       {std::pair("echo", call.echo), std::pair("logprobs", call.logprobs.has_value())}) {
    if (!asked) continue;
    throw ApiError(400, std::string(field) + ": expected none, since the model has no tokenizer",
                   {}, field);
  }
}

std::string echo_of(const Engine& engine, const quire::Request& request) {
  return request.prompt ? *request.prompt : engine.model().tokenizer()->decode(*request.ids);
}

void add(quire::Usage& sum, const quire::Usage& usage) {
  sum.prompt_tokens += usage.prompt_tokens;
  sum.completion_tokens += usage.completion_tokens;
  sum.total_tokens += usage.total_tokens;
  sum.cached_tokens += usage.cached_tokens;
}

Json choice_json(std::size_t index, const std::string& text, Json finish_reason) {
  return {{"text", text},
          {"index", index},
          {"logprobs", nullptr},
          {"finish_reason", std::move(finish_reason)}};
}

Json whole(Engine& engine, const CompletionCall& call) {
  Json answer = envelope("text_completion", new_id("cmpl-"), engine);
  Json choices = Json::array();
  quire::Usage usage;
  for (const quire::Request& request : call.requests) {
    const quire::Result result = engine.run(request);
    const std::string before = call.echo ? echo_of(engine, request) : "";
    for (const quire::Choice& choice : choices_of(result)) {
      choices.push_back(
          choice_json(choices.size(), before + choice.text, openai_reason(choice.finish_reason)));
      if (call.logprobs) {
        choices.back()["logprobs"] =
            completion_logprobs(*engine.model().tokenizer(), choice, *call.logprobs, before.size());
      }
    }
    add(usage, result.usage);
    answer["quire"] = engine.report(result);
  }
  answer["choices"] = std::move(choices);
  answer["usage"] = openai_usage(usage);
  return answer;
}

void stream(Engine& engine, const CompletionCall& call, EventStream& events) {
  const Json head = envelope("text_completion", new_id("cmpl-"), engine);
  const auto chunk = [&](std::size_t index, const std::string& text, Json reason = nullptr) {
    Json json = head;
    json["choices"] = Json::array({choice_json(index, text, std::move(reason))});
    return json;
  };
  quire::Usage usage;
  std::size_t first = 0;  // index of the request's first answer
  for (const quire::Request& request : call.requests) {
    for (int i = 0; call.echo && i < request.n; ++i) {
      events.send(chunk(first + static_cast<std::size_t>(i), echo_of(engine, request)));
    }
    const quire::Result result = engine.run(request, [&](std::string_view text) {
      return events.try_send(chunk(first, std::string(text)));
    });
    const std::vector<quire::Choice> choices = choices_of(result);
    for (std::size_t i = 0; i < choices.size(); ++i) {
      Json last = chunk(first + i, request.n > 1 ? choices[i].text : "",
                        openai_reason(choices[i].finish_reason));
      if (i + 1 == choices.size()) last["quire"] = engine.report(result);
      events.send(last);
    }
    add(usage, result.usage);
    first += choices.size();
  }
  if (call.options.include_usage) {
    Json last = head;
    last["choices"] = Json::array();
    last["usage"] = openai_usage(usage);
    events.send(last);
  }
  events.send_done();
}

}  // namespace

Reply completions(Engine& engine, const Call& call) {
  const Fields body = body_of(call);
  check_model(body, engine.options().model_id);
  CompletionCall completion;
  completion.logprobs = completion_logprobs_of(body);
  quire::Request request = generation_of(body, engine);
  request.logprobs = reported_logprobs(completion.logprobs);
  completion.requests = requests_of(body, request);
  completion.options = stream_options_of(body);
  completion.echo = body.boolean("echo").value_or(false);
  check_texts(completion, engine.model());
  const std::int64_t limit =
      integer_of(body, "max_tokens", 1, std::numeric_limits<std::int64_t>::max())
          .value_or(kDefaultTokens);
  for (quire::Request& one : completion.requests) engine.prepare(one, call, limit);
  std::shared_ptr<void> place = engine.places().take();
  if (!completion.options.stream) return json_reply(whole(engine, completion));
  return event_stream(false, std::move(place),
                      [&engine, completion = std::move(completion)](EventStream& events) {
                        stream(engine, completion, events);
                      });
}

}  // namespace server
