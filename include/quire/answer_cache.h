// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/cache_level.h>
#include <quire/export.h>
#include <quire/semantic_answer.h>
#include <quire/tiered_cache.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace quire {

struct AnswerCacheOptions {
  TieredCacheOptions levels = {};  // entries in memory
  // A third level, which processes share: make_redis_level().
  std::shared_ptr<CacheLevel<std::string, std::string>> shared = nullptr;
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;  // counted from storing
  // The time, for tests; empty: the system's clock.
  std::function<std::chrono::system_clock::time_point()> clock = {};
};

struct AnswerCacheStats {
  TieredCacheStats levels;   // an entry whose time is over counts as a hit of the level it was at
  std::int64_t stored = 0;   // answers
  std::int64_t expired = 0;  // met when their time was over
};

struct CachedAnswer : StoredAnswer {
  std::chrono::milliseconds age{0};
  bool computed = false;  // by this very call
  bool waited = false;    // for another caller who asked the same
};

// Answers to exactly the same question: the same text, or token ids where they are given, and the
// same scope. It needs no encoder and is never wrong. Two levels in memory, of which the first
// holds what was used last, and perhaps a third that machines share.
//
//   AnswerCache answers({.levels = {.l1_entries = 100, .l2_entries = 1000},
//                        .shared = make_redis_level("redis://cache.example")});
//   Generator generator(model, {.answer_cache = &answers});
//   request.reuse = AnswerReuse{};
//
// A generator that has a semantic cache too asks this one first; it keeps here what the model said,
// never what was similar enough. Requests with tags pass it by: only a SemanticCache can invalidate
// them.
//
// Thread-safety: all methods may be called concurrently.
class QUIRE_EXPORT AnswerCache {
 public:
  // Throws Error kInvalidArgument for an empty level 1 or a ttl that is over at once.
  explicit AnswerCache(const AnswerCacheOptions& options = {});
  ~AnswerCache();
  AnswerCache(const AnswerCache&) = delete;
  AnswerCache& operator=(const AnswerCache&) = delete;

  // Of a query, only prompt, ids and scope matter.
  std::optional<CachedAnswer> lookup(const SemanticQuery& query);

  // False, and nothing is stored, for an answer that is empty, cut off (kLength), cancelled or
  // late, or an entry with tags.
  bool store(const SemanticEntry& entry);

  // Looks up and, on a miss, computes and stores, as SemanticCache::get_or_compute does: of
  // concurrent callers who miss with the same question one computes.
  CachedAnswer get_or_compute(
      const SemanticQuery& query, const std::function<StoredAnswer()>& compute,
      std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt,
      std::optional<std::chrono::milliseconds> ttl = std::nullopt);

  bool erase(const SemanticQuery& query);  // true if a level in memory had it
  void clear();                            // the levels in memory

  AnswerCacheStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
