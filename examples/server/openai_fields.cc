// SPDX-License-Identifier: Apache-2.0
#include "openai_fields.h"

#include <quire/error.h>

#include <ctime>

#include "request_fields.h"

namespace server {
namespace {

using cli::Fields;
using cli::Json;

constexpr std::size_t kMostSalt = 256;  // it is kept as long as what is cached under it

[[noreturn]] void refuse(const Fields& body, std::string_view key) {
  body.wrong(key, "none, since this server cannot follow it");
}

// What would change the answer and cannot be done here.
void refuse_unsupported(const Fields& body) {
  for (const char* key : {"frequency_penalty", "presence_penalty"}) {
    if (body.number(key).value_or(0) != 0) refuse(body, key);
  }
  for (const char* key : {"logit_bias", "functions", "suffix"}) {
    const Json* value = body.find(key);
    if (value && !value->empty() && *value != "") refuse(body, key);
  }
  if (body.integer("best_of").value_or(1) > body.integer("n").value_or(1)) refuse(body, "best_of");
  if (const Json* choice = body.find("tool_choice")) {
    if (*choice != "auto" && *choice != "none") refuse(body, "tool_choice");
  }
  if (const Json* format = body.find("response_format")) {
    if (!format->is_object() || format->value("type", Json()) != "text") {
      refuse(body, "response_format");
    }
  }
}

}  // namespace

StreamOptions stream_options_of(const Fields& body) {
  StreamOptions options{.stream = body.boolean("stream").value_or(false)};
  if (!body.has("stream_options")) return options;
  if (!options.stream) body.wrong("stream_options", "none without \"stream\": true");
  const Fields more(std::string(body.raw("stream_options")));
  options.include_usage = more.boolean("include_usage").value_or(false);
  return options;
}

quire::Request generation_of(const Fields& body, const Engine& engine) {
  constexpr double kMostTemperature = 2;
  refuse_unsupported(body);
  quire::Request request;
  request.sampling = sampling_of(body, engine.model(), kMostTemperature);
  request.stop = stop_of(body, "stop");
  request.n = static_cast<int>(integer_of(body, "n", 1, engine.options().max_batch).value_or(1));
  request.ignore_eos = body.boolean("ignore_eos").value_or(false);
  request.scope.salt = body.text("cache_salt").value_or("");
  if (request.scope.salt.size() > kMostSalt) {
    body.wrong("cache_salt", "at most " + std::to_string(kMostSalt) + " bytes");
  }
  request.reuse = reuse_of(body);
  return request;
}

Json envelope(std::string_view object, const std::string& id, const Engine& engine) {
  return {{"id", id},
          {"object", object},
          {"created", std::time(nullptr)},
          {"model", engine.options().model_id}};
}

std::string_view openai_reason(quire::FinishReason reason) {
  return reason == quire::FinishReason::kLength ? "length" : "stop";
}

Json openai_usage(const quire::Usage& usage) {
  return {{"prompt_tokens", usage.prompt_tokens},
          {"completion_tokens", usage.completion_tokens},
          {"total_tokens", usage.total_tokens},
          {"prompt_tokens_details", {{"cached_tokens", usage.cached_tokens}}}};
}

std::vector<quire::Choice> choices_of(const quire::Result& result) {
  return result.choices.empty() ? std::vector<quire::Choice>{result} : result.choices;
}

}  // namespace server
