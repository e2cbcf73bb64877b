// SPDX-License-Identifier: Apache-2.0
#include "generate/request_checks.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

namespace quire {
namespace {

[[noreturn]] void refuse(std::string_view field, std::string_view problem) {
  throw Error(ErrorCode::kInvalidArgument, field, problem);
}

}  // namespace

void check_call(const ProcessMark& generator, const Request& request, bool streamed) {
  if (!generator.is_here()) {
    throw Error(
        ErrorCode::kUnsupported, "generator",
        "expected the process that made it, found a fork: make one here, of the same model");
  }
  check_request(request, streamed);
}

void check_request(const Request& request, bool streamed) {
  const int sources =
      (request.prompt ? 1 : 0) + (request.ids ? 1 : 0) + (request.messages.empty() ? 0 : 1);
  if (sources != 1) {
    refuse("request", "expected one of prompt, ids and messages, found " + std::to_string(sources));
  }
  if (request.max_new_tokens < 1) {
    refuse("max_new_tokens",
           "expected at least 1, found " + std::to_string(request.max_new_tokens));
  }
  if (request.n < 1) refuse("n", "expected at least 1, found " + std::to_string(request.n));
  if (request.n > 1 && streamed) refuse("n", "expected 1 with a stream callback");
  if (request.logprobs < 0) {
    refuse("logprobs", "expected at least 0, found " + std::to_string(request.logprobs));
  }
  if (request.cache && request.snapshot) refuse("snapshot", "expected none beside a cache");
  if (!request.cache && !request.cache_ids.empty()) refuse("cache_ids", "expected a cache");
  if (request.cache && !request.cache_ids.empty() &&
      std::ssize(request.cache_ids) != request.cache->length()) {
    refuse("cache_ids", "expected " + std::to_string(request.cache->length()) +
                            " ids as the cache holds, found " +
                            std::to_string(request.cache_ids.size()));
  }
}

void check_fit(const Fit& fit) {
  const std::int64_t room = std::min(fit.context, fit.capacity);
  // Compared without a sum that could overflow.
  const std::int64_t text = fit.held + fit.prompt;
  if (text <= room && fit.more <= room - text) return;
  throw Error(ErrorCode::kContextOverflow, "max_new_tokens",
              "expected at most " + std::to_string(room) + " tokens (" +
                  (room < fit.context ? "the cache's capacity" : "the model's context") +
                  "), found " + std::to_string(fit.held) + " in the cache + " +
                  std::to_string(fit.prompt) + " of the prompt + " + std::to_string(fit.more) +
                  " new");
}

void check_ids(std::span<const TokenId> ids, std::int64_t vocab, std::string_view field) {
  for (const TokenId id : ids) {
    if (id < 0 || id >= vocab) {
      refuse(field, "expected ids from 0 to " + std::to_string(vocab - 1) + ", found " +
                        std::to_string(id));
    }
  }
}

}  // namespace quire
