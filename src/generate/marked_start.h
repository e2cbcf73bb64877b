// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>
#include <quire/prefix_cache.h>
#include <quire/prompt_cache.h>
#include <quire/request.h>
#include <quire/result.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "generate/cache_marks.h"

namespace quire {

class ThreadPool;

// Where a request with cache marks starts: what lies before its last mark is in the cache, and
// kept.
struct MarkedStart {
  std::unique_ptr<KvCache> cache;
  std::int64_t length = 0;   // tokens in it
  std::int64_t reused = 0;   // of them, not computed for this request
  bool by_prefix = false;    // reused from the prefix cache, not from what was kept for a mark
  std::int64_t read = 0;     // tokens under a mark that was known
  std::int64_t created = 0;  // and under one newly kept
  WhyNotMore why;
  std::vector<float> logits;  // after the whole prompt, if that is in the cache
};

struct MarkedRequest {
  const Model& model;
  ThreadPool& threads;
  PromptCache& prompts;       // that keeps what is marked
  const PrefixMatch* prefix;  // null: none is asked
  const Request& request;
  std::span<const TokenId> prompt;
  std::span<const TokenMark> marks;  // ascending
  std::int64_t chunk;
};

// Starts from the longer of what a mark and what the prefix cache know, computes up to the last
// mark and keeps a snapshot at every new one. Marks below PromptCacheOptions::min_cacheable keep
// nothing. If the request's deadline comes first, it stops there.
MarkedStart start_at_marks(const MarkedRequest& asked);

// Adds the start, which took `spent`, to the result of the run that followed. `prefix`: as above.
void report(const MarkedStart& start, const PrefixMatch* prefix,
            std::chrono::steady_clock::duration spent, Result& result);

}  // namespace quire
