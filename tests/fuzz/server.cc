// SPDX-License-Identifier: Apache-2.0
// The server's endpoints over a tiny model: the input's first line is the path, the rest the body.
#include <quire/embedder.h>
#include <quire/model.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>

#include "cli/json.h"
#include "server/routes.h"
#include "tests/fuzz/targets.h"

namespace quire::fuzz {
namespace {

server::Engine& engine() {
  static server::Engine made(Model::load(QUIRE_TEST_DATA "/chat", {.threads = 1}),
                             Embedder::load(QUIRE_TEST_DATA "/encoders/bert-text", {.threads = 1}),
                             {.model_id = "tiny",
                              .embedder_id = "tiny-embedder",
                              .threads = 1,
                              .timeout = std::chrono::milliseconds(200),
                              .max_new_tokens = 4,
                              .prefixes = {.bytes = 16 << 20}});
  return made;
}

// A client must be able to read what it gets, and no request is the server's own failure.
void check(const server::Reply& reply) {
  if (reply.status == 500) throw std::logic_error("a failure of its own: " + reply.body);
  if (reply.type != "application/json" || reply.stream) return;
  if (!cli::Json::accept(reply.body)) throw std::logic_error("no JSON: " + reply.body);
}

}  // namespace

bool server_call(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  server::Call call;
  call.method = line == input.size() ? "GET" : "POST";
  call.path = "/" + std::string(input.substr(0, line));
  call.body = input.substr(std::min(line + 1, input.size()));
  const server::Reply reply = server::respond(engine(), server::ApiKeys(), call);
  check(reply);
  if (reply.stream) {
    std::string events;
    reply.stream([&](std::string_view piece) {
      events += piece;
      return true;
    });
    if (!events.ends_with("\n\n")) throw std::logic_error("an event that does not end: " + events);
  }
  return reply.status >= 400;
}

std::span<const NamedTarget> targets() {
  static constexpr NamedTarget kTargets[] = {{"server", server_call}};
  return kTargets;
}

}  // namespace quire::fuzz
