// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>
#include <quire/request.h>
#include <quire/snapshot.h>

#include <cstdint>
#include <memory>

namespace quire {

class ThreadPool;

// How prompts are read.
struct Reading {
  const Model& model;
  ThreadPool& threads;
  std::int64_t chunk;     // tokens a pass
  std::int64_t reusable;  // see start_from
};

// Reads `prompt`, the request's, without generating, and freezes it: on a fork of `from`, which may
// be none, else in `cache`, else in a DynamicCache.
Snapshot prefill_to_snapshot(const Reading& reading, const Snapshot& from, const Request& request,
                             const TokenIds& prompt, std::unique_ptr<KvCache> cache);

}  // namespace quire
