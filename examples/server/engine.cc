// SPDX-License-Identifier: Apache-2.0
#include "engine.h"

#include <quire/prompt_cache.h>

#include <algorithm>
#include <utility>

#include "api_error.h"
#include "cli/report.h"

namespace server {
namespace {

std::unique_ptr<quire::SemanticCache> answers_of(std::shared_ptr<const quire::Embedder> embedder,
                                                 double threshold) {
  if (!embedder) return nullptr;
  return std::make_unique<quire::SemanticCache>(
      std::move(embedder), quire::SemanticCacheOptions{.threshold = threshold});
}

bool any_ended(const quire::Result& result, quire::FinishReason reason) {
  return result.finish_reason == reason ||
         std::ranges::any_of(result.choices, [&](const quire::Choice& choice) {
           return choice.finish_reason == reason;
         });
}

}  // namespace

Engine::Engine(std::shared_ptr<const quire::Model> model,
               std::shared_ptr<const quire::Embedder> embedder, EngineOptions options)
    : options_(std::move(options)),
      model_(std::move(model)),
      embedder_(std::move(embedder)),
      prefixes_(options_.prefixes),
      answers_(answers_of(embedder_, options_.semantic_threshold)),
      generator_(model_, {.threads = options_.threads,
                          .max_batch = options_.max_batch,
                          .max_queue = options_.max_batch + options_.max_queue,
                          .prefix_cache = &prefixes_,
                          .semantic_cache = answers_.get()}),
      places_(options_.max_batch + options_.max_queue) {}

std::int64_t Engine::prepare(quire::Request& request, const Call& call,
                             std::optional<std::int64_t> max_new_tokens) const {
  if (request.reuse && !answers_) {
    throw ApiError(400, "semantic: expected a server that has an embedder", {}, "semantic");
  }
  request.scope.name_space = call.name_space;
  request.deadline = std::chrono::steady_clock::now() + options_.timeout;
  const std::int64_t prompt = std::ssize(generator_.tokenize(request));
  const std::int64_t context = model_->config().context;
  const std::int64_t room = context - prompt;
  if (room < max_new_tokens.value_or(1)) {
    throw ApiError(400,
                   "expected at most " + std::to_string(context) +
                       " tokens (the model's context), found " + std::to_string(prompt) +
                       " of the prompt + " + std::to_string(max_new_tokens.value_or(1)) + " new",
                   "context_length_exceeded");
  }
  request.max_new_tokens = max_new_tokens.value_or(std::min(room, options_.max_new_tokens));
  return prompt;
}

quire::Result Engine::run(const quire::Request& asked, const Emit& on_text) {
  const auto begun = std::chrono::steady_clock::now();
  quire::Request request = asked;
  request.cancel = stop_.get_token();
  const auto stream = [&](std::string_view text) {
    return !on_text || on_text(text) ? quire::Stream::kContinue : quire::Stream::kCancel;
  };
  const quire::Result result =
      request.n > 1 ? generator_.generate(request) : generator_.generate(request, stream);
  metrics_.count_result(result, std::chrono::steady_clock::now() - begun);
  if (any_ended(result, quire::FinishReason::kDeadline)) {
    throw ApiError(504, "the answer took longer than " +
                            std::to_string(options_.timeout.count() / 1000) + " s");
  }
  if (any_ended(result, quire::FinishReason::kCancelled)) {
    if (stop_.stop_requested()) throw ApiError(503, "the server is stopping");
    throw ClientGone();
  }
  return result;
}

cli::Json Engine::report(const quire::Result& result) const {
  cli::Json cache = cli::cache_json(result.cache);
  const auto spell = [&](const char* key, const std::optional<quire::TokenId>& id) {
    if (!id || !model_->tokenizer()) return;
    const quire::TokenId ids[] = {*id};
    cache["why_not_more"][key] = model_->tokenizer()->decode(ids);
  };
  spell("had_text", result.cache.why_not_more.had);
  spell("got_text", result.cache.why_not_more.got);
  return {{"cache", std::move(cache)}, {"timings", cli::timings_json(result.timings)}};
}

std::string Engine::prometheus() const {
  PrometheusText out;
  out.single("requests_active", "gauge", "Requests that run or wait.",
             static_cast<double>(places_.taken()));
  metrics_.write(out);
  if (const quire::PromptCache* prompts = generator_.prompt_cache()) write_metrics(out, *prompts);
  if (answers_) write_metrics(out, *answers_);
  return out.text() + prefixes_.prometheus();
}

}  // namespace server
