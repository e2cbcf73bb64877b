// SPDX-License-Identifier: Apache-2.0
#include "request.h"

#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <algorithm>
#include <limits>

#include "messages.h"
#include "report.h"

namespace cli {
namespace {

using quire::Error;
using quire::ErrorCode;

quire::Sampling sampling_of(const Fields& line, const quire::Model& model) {
  quire::Sampling sampling = model.generation_defaults().sampling;
  sampling.temperature = line.number("temperature").value_or(sampling.temperature);
  sampling.top_k = line.integer("top_k").value_or(sampling.top_k);
  sampling.top_p = line.number("top_p").value_or(sampling.top_p);
  sampling.min_p = line.number("min_p").value_or(sampling.min_p);
  sampling.repetition_penalty =
      line.number("repetition_penalty").value_or(sampling.repetition_penalty);
  sampling.seed = line.natural("seed").value_or(sampling.seed);
  return sampling;
}

int small_integer(const Fields& line, std::string_view key, int fallback) {
  const std::int64_t value = line.integer(key).value_or(fallback);
  if (value < 0 || value > std::numeric_limits<int>::max()) {
    line.wrong(key, "an integer of at least 0");
  }
  return static_cast<int>(value);
}

Json choice_json(const quire::Choice& choice) {
  return {{"text", choice.text},
          {"ids", choice.ids},
          {"finish_reason", to_string(choice.finish_reason)},
          {"stop", choice.stop.empty() ? Json() : Json(choice.stop)}};
}

void put_logprobs(Json& out, const quire::Choice& choice) {
  Json steps = Json::array();
  for (const auto& step : choice.logprobs) {
    Json top = Json::array();
    for (const auto& [id, logprob] : step) top.push_back({id, logprob});
    steps.push_back(std::move(top));
  }
  out["logprobs"] = std::move(steps);
  out["chosen_logprobs"] = choice.chosen_logprobs;
}

Json usage_json(const quire::Usage& u) {
  return {{"prompt_tokens", u.prompt_tokens},
          {"completion_tokens", u.completion_tokens},
          {"total_tokens", u.total_tokens},
          {"cached_tokens", u.cached_tokens},
          {"cache_read_tokens", u.cache_read_tokens},
          {"cache_creation_tokens", u.cache_creation_tokens},
          {"uncached_tokens", u.uncached_tokens},
          {"draft_tokens", u.draft_tokens},
          {"accepted_draft_tokens", u.accepted_draft_tokens}};
}

}  // namespace

quire::Request request_of(const Fields& line, const quire::Model& model) {
  quire::Request request;
  request.prompt = line.text("prompt");
  request.ids = line.ids("ids");
  request.messages = messages_of(line);
  request.tools_json = std::string(line.raw("tools"));
  request.max_new_tokens = line.integer("max_new_tokens").value_or(20);
  request.sampling = sampling_of(line, model);
  request.stop = line.texts("stop").value_or(std::vector<std::string>{});
  request.ignore_eos = line.boolean("ignore_eos").value_or(false);
  request.logprobs = small_integer(line, "logprobs", 0);
  request.n = small_integer(line, "n", 1);
  request.draft = line.text("draft").value_or("");
  request.draft_ids = line.ids("draft_ids").value_or(quire::TokenIds{});
  request.prompt_lookup = line.boolean("prompt_lookup").value_or(false);
  request.prefix_cache = line.boolean("prefix_cache").value_or(true);
  request.one_shot = line.boolean("one_shot").value_or(false);
  if (line.boolean("semantic").value_or(false)) {
    request.reuse = quire::AnswerReuse{.vary = line.text("vary").value_or("")};
  }
  request.scope.name_space = line.text("namespace").value_or("");
  request.scope.salt = line.text("salt").value_or("");
  return request;
}

std::unique_ptr<quire::KvCache> cache_of(const Fields& line, const quire::Model& model,
                                         std::int64_t tokens) {
  const std::string kind = line.text("kv").value_or("dynamic");
  const quire::KvSpec& spec = model.kv_spec();
  const std::int64_t context = model.config().context;
  if (kind == "dynamic") return nullptr;
  if (kind == "static") {
    const std::int64_t length = line.integer("max_length").value_or(std::min(tokens, context));
    return std::make_unique<quire::StaticCache>(spec, quire::StaticCacheOptions{length});
  }
  if (kind == "quantized") {
    quire::QuantizedCacheOptions options;
    options.nbits = small_integer(line, "nbits", options.nbits);
    return std::make_unique<quire::QuantizedCache>(spec, options);
  }
  if (kind == "sliding") {
    const std::int64_t window = line.integer("window").value_or(context);
    return std::make_unique<quire::SlidingCache>(spec, quire::SlidingCacheOptions{window});
  }
  line.wrong("kv", "dynamic, static, quantized or sliding");
}

Json result_json(const quire::Result& result, const quire::Request& request) {
  Json out = choice_json(result);
  if (request.logprobs > 0) put_logprobs(out, result);
  if (request.n > 1) {
    Json choices = Json::array();
    for (const quire::Choice& choice : result.choices) {
      choices.push_back(choice_json(choice));
      if (request.logprobs > 0) put_logprobs(choices.back(), choice);
    }
    out["choices"] = std::move(choices);
  }
  out["usage"] = usage_json(result.usage);
  out["cache"] = cache_json(result.cache);
  out["timings"] = timings_json(result.timings);
  return out;
}

}  // namespace cli
