// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/request.h>
#include <quire/token.h>

#include <cstdint>
#include <span>
#include <string_view>

#include "io/worker_thread.h"

namespace quire {

// Throws as check_request, and kUnsupported in a process forked from the generator's, where none of
// the threads is that may have held its locks.
void check_call(const ProcessMark& generator, const Request& request, bool streamed);

// Throw Error kInvalidArgument, naming the field: a request that contradicts itself, and ids beyond
// the vocabulary.
void check_request(const Request& request, bool streamed);
void check_ids(std::span<const TokenId> ids, std::int64_t vocab, std::string_view field);

// Tokens that are to be in a cache together.
struct Fit {
  std::int64_t context;   // the model's
  std::int64_t capacity;  // the cache's
  std::int64_t held = 0;  // in the cache
  std::int64_t prompt = 0;
  std::int64_t more = 0;  // new
};

// Throws Error kContextOverflow.
void check_fit(const Fit& fit);

}  // namespace quire
