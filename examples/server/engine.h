// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/embedder.h>
#include <quire/generator.h>
#include <quire/model.h>
#include <quire/prefix_cache.h>
#include <quire/semantic_cache.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "cli/json.h"
#include "exchange.h"
#include "metrics.h"
#include "places.h"

namespace server {

struct EngineOptions {
  std::string model_id = {};     // as clients call the model …
  std::string embedder_id = {};  // … and the sentence encoder
  int threads = 0;               // 0: one a core
  std::int64_t max_batch = 32;
  std::int64_t max_queue = 128;                                  // requests that wait; more: 429
  std::chrono::milliseconds timeout = std::chrono::minutes(10);  // of a request, waiting included
  std::int64_t max_new_tokens = 512;                             // of a chat that names no limit
  double semantic_threshold = 0.95;
  quire::PrefixCacheOptions prefixes = {};
};

// The model behind the routes, with every cache; requests run on it, counted and within limits.
//
// Thread-safety: all methods may be called concurrently.
class Engine {
 public:
  // `embedder`: null for none, and then no embeddings and no reuse of answers.
  Engine(std::shared_ptr<const quire::Model> model, std::shared_ptr<const quire::Embedder> embedder,
         EngineOptions options);

  const EngineOptions& options() const { return options_; }
  const quire::Model& model() const { return *model_; }
  const quire::Embedder* embedder() const { return embedder_.get(); }
  const quire::Generator& generator() const { return generator_; }
  Metrics& metrics() { return metrics_; }
  Places& places() { return places_; }

  // Completes a request: whose it is, its deadline and, where the client named none, its limit of
  // tokens. Returns how long its prompt is. Throws what generate would, before a stream has begun:
  // ApiError 400 for a text that does not fit, quire::Error of the template.
  std::int64_t prepare(quire::Request& request, const Call& call,
                       std::optional<std::int64_t> max_new_tokens) const;

  // Throws quire::Error; ApiError 504 when the time is up, 503 when the server stops; ClientGone
  // when `on_text` says so. With n > 1 the text does not come bit by bit, so that a client who goes
  // is not noticed.
  quire::Result run(const quire::Request& asked, const Emit& on_text = {});

  // Where an answer's tokens came from, and why no more did: {"cache", "timings"}.
  cli::Json report(const quire::Result& result) const;

  std::string prometheus() const;

  // Ends all requests that run, and those that come later.
  void cancel_all() { stop_.request_stop(); }

 private:
  const EngineOptions options_;
  const std::shared_ptr<const quire::Model> model_;
  const std::shared_ptr<const quire::Embedder> embedder_;
  quire::PrefixCache prefixes_;
  std::unique_ptr<quire::SemanticCache> answers_;  // null without an embedder
  quire::Generator generator_;
  Metrics metrics_;
  Places places_;
  std::stop_source stop_;
};

}  // namespace server
