// SPDX-License-Identifier: Apache-2.0
// quire serve MODEL: the server of examples/server around one model.
#include <quire/embedder.h>

#include <iostream>
#include <memory>

#include "commands.h"
#include "models.h"
#include "program.h"
#include "server/serving.h"

namespace cli {
namespace {

struct Arguments : SharedOptions {
  std::string host = "127.0.0.1";
  int port = 8080;
  std::string embedder, api_keys, prefix_disk, redis;
  double semantic_threshold = 0.95;
  std::int64_t max_batch = 32;
  std::int64_t max_queue = 128;
  std::int64_t timeout_s = 600;
  std::size_t max_body_mib = 16;
};

server::EngineOptions engine_options(const Arguments& a) {
  return {.model_id = a.model,
          .embedder_id = a.embedder,
          .threads = a.threads,
          .max_batch = a.max_batch,
          .max_queue = a.max_queue,
          .timeout = std::chrono::seconds(a.timeout_s),
          .semantic_threshold = a.semantic_threshold,
          .prefixes = {.disk_path = a.prefix_disk, .redis_url = a.redis}};
}

server::HttpOptions http_options(const Arguments& a) {
  server::HttpOptions options{
      .host = a.host, .port = a.port, .max_body_bytes = a.max_body_mib << 20};
  if (!a.api_keys.empty()) options.keys = server::ApiKeys::load(a.api_keys);
  if (a.verbose) {
    options.log = [](const std::string& line) { std::cerr << line + "\n" << std::flush; };
  }
  return options;
}

void serve(const Arguments& a) {
  const server::HttpOptions http = http_options(a);
  std::shared_ptr<const quire::Embedder> embedder;
  if (!a.embedder.empty()) {
    embedder = quire::Embedder::load(find_model(a.embedder), {.threads = a.threads});
  }
  server::Engine engine(load_model(a), std::move(embedder), engine_options(a));
  server::serve_until_signal(engine, http);
}

void add_limits(CLI::App& command, Arguments& a) {
  command.add_option("--max-batch", a.max_batch, "Answers generated at once")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  command.add_option("--max-queue", a.max_queue, "Requests that wait; more are answered with 429")
      ->check(CLI::Range(0, 65536))
      ->capture_default_str();
  command.add_option("--timeout", a.timeout_s, "Seconds a request may take")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  command.add_option("--max-body", a.max_body_mib, "MiB of a request at most; more: 413")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str();
}

}  // namespace

void add_serve(CLI::App& app) {
  auto a = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("serve", "A server with OpenAI's and Anthropic's endpoints");
  add_example(*command, "serve smollm2 --port 8080");
  add_model_argument(*command, *a, "A directory, a .gguf file or a packaged model's name");
  command->add_option("--host", a->host, "The address to listen on")->capture_default_str();
  command->add_option("--port", a->port, "Its port; 0: any free one")
      ->check(CLI::Range(0, 65535))
      ->capture_default_str();
  command->add_option("--embedder", a->embedder,
                      "A sentence encoder: for embeddings, and for answers to requests that say "
                      "\"semantic\": true");
  command->add_option(
      "--api-keys", a->api_keys,
      "A file of lines \"key namespace\": who may call, and whose caches are whose");
  add_limits(*command, *a);
  command
      ->add_option("--semantic-threshold", a->semantic_threshold,
                   "Least cosine for an answer to be reused")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--prefix-disk", a->prefix_disk,
                      "A file that keeps computed prefixes beyond this run");
  command->add_option("--redis", a->redis,
                      "redis://host:port or unix:/socket: a Redis that machines share prefixes by");
  add_load_options(*command, *a);
  command->add_flag("-v,--verbose", a->verbose, "Progress, and a line for each reply, on stderr");
  add_example(*command, "serve smollm2 --port 8080 --embedder minilm");
  command->callback([a] { serve(*a); });
}

}  // namespace cli
