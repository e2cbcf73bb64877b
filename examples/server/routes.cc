// SPDX-License-Identifier: Apache-2.0
#include "routes.h"

#include <algorithm>
#include <string_view>

#include "anthropic.h"
#include "api_error.h"
#include "openai.h"
#include "page.h"

namespace server {
namespace {

Reply page(Engine&, const Call&) {
  Reply reply{.body = std::string(kPage), .type = "text/html; charset=utf-8"};
  reply.headers = {{"Content-Security-Policy",
                    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
                    "connect-src 'self'"}};
  return reply;
}

Reply health(Engine& engine, const Call&) {
  return json_reply({{"status", "ok"}, {"model", engine.options().model_id}});
}

Reply metrics(Engine& engine, const Call&) {
  return {.body = engine.prometheus(), .type = "text/plain; version=0.0.4; charset=utf-8"};
}

struct Route {
  std::string_view method;
  std::string_view path;  // a last * stands for the rest of it
  Reply (*handler)(Engine&, const Call&);

  bool leads_to(std::string_view wanted) const {
    if (!path.ends_with('*')) return wanted == path;
    return wanted.starts_with(path.substr(0, path.size() - 1));
  }
};

constexpr Route kRoutes[] = {
    {"GET", "/", page},
    {"GET", "/health", health},
    {"GET", "/metrics", metrics},
    {"GET", "/v1/models", list_models},
    {"GET", "/v1/models/*", retrieve_model},
    {"POST", "/v1/chat/completions", chat_completions},
    {"POST", "/v1/completions", completions},
    {"POST", "/v1/embeddings", embeddings},
    {"POST", "/v1/messages", messages},
    {"POST", "/v1/messages/count_tokens", count_tokens},
};

Reply wrong_method(const Call& call, const Route& route) {
  const std::string method(route.method);
  Reply reply = error_reply(
      ApiError(405, call.path + ": expected " + method + ", found " + call.method), call.anthropic);
  reply.headers.emplace_back("Allow", method);
  return reply;
}

Reply follow(const Route& route, Engine& engine, const Call& call) {
  const bool head = call.method == "HEAD" && route.method == "GET";
  if (call.method != route.method && !head) return wrong_method(call, route);
  return route.handler(engine, call);
}

}  // namespace

Reply respond(Engine& engine, const ApiKeys& keys, Call call) {
  call.anthropic = call.anthropic || call.path.starts_with("/v1/messages");
  const Route* route = std::ranges::find_if(
      kRoutes, [&](const Route& candidate) { return candidate.leads_to(call.path); });
  const bool known = route != std::end(kRoutes);
  Reply reply;
  try {
    const std::optional<std::string> name_space = keys.name_space(call.api_key);
    if (call.path.starts_with("/v1") && !name_space) {
      throw ApiError(
          401,
          call.api_key.empty() ? "expected an API key, found none" : "the API key is not known",
          "invalid_api_key");
    }
    call.name_space = name_space.value_or("");
    if (!known) throw ApiError(404, call.path + ": there is nothing here", "not_found");
    reply = follow(*route, engine, call);
  } catch (const ClientGone&) {
    reply = error_reply(ApiError(499, "the client went away"), call.anthropic);
  } catch (...) {
    reply = error_reply(current_error(), call.anthropic);
  }
  engine.metrics().count_reply(known ? route->path : "other", reply.status);
  return reply;
}

}  // namespace server
