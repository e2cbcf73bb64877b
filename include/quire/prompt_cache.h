// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/result.h>
#include <quire/snapshot.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace quire {

class Generator;
struct Request;

struct PromptCacheOptions {
  enum class Eviction { kOldest, kLeastRecentlyUsed };

  std::int64_t max_entries = 100;
  std::int64_t bytes = 1ll << 30;  // of keys and values; pages that snapshots share count for each
  Eviction eviction = Eviction::kOldest;
  std::chrono::milliseconds ttl{0};  // after being put; 0: for ever
  std::int64_t min_match = 4;        // tokens that a lookup must find in common
  // Tokens under a mark in messages (Message::cache_control); marks below it keep nothing.
  std::int64_t min_cacheable = 64;
  std::function<std::chrono::milliseconds()> now = {};  // for applications with their own clock
};

struct PromptCacheStats {
  std::int64_t entries = 0;  // kept now
  std::int64_t bytes = 0;
  std::int64_t puts = 0;
  std::int64_t hits = 0;  // of get, lookup and marks
  std::int64_t misses = 0;
  std::int64_t evicted = 0;
  std::int64_t expired = 0;
  std::int64_t rejected = 0;  // larger than the whole budget
};

// What a lookup found: the snapshot that has most tokens in common with the text.
struct PromptMatch {
  Snapshot snapshot = {};  // none: a miss
  std::string key = {};
  std::int64_t tokens = 0;  // in common
  WhyNotMore why = {};      // why it is no more

  // A cache of just these tokens. REQUIRES: a hit.
  std::unique_ptr<KvCache> fork() const { return snapshot.fork(tokens); }
};

// Snapshots under names, or under keys that follow from their content, within a number and a
// budget. What is evicted or expires lives on with whoever holds it.
//
// Thread-safety: internally synchronised; share it between generators and threads.
class QUIRE_EXPORT PromptCache {
 public:
  // Throws Error kInvalidArgument.
  explicit PromptCache(PromptCacheOptions options = {});
  ~PromptCache();
  PromptCache(const PromptCache&) = delete;
  PromptCache& operator=(const PromptCache&) = delete;

  // The prompt's snapshot: the one that is kept, or one that is computed and kept under its
  // content_key, from the longest known prefix on. With `cache`, an empty one, it is computed
  // there. Throws Error as Generator::prefill.
  Snapshot prefill(Generator& generator, const Request& request,
                   std::unique_ptr<KvCache> cache = nullptr);

  // Keeps a snapshot, in place of one of that key. `ttl` 0: the options'. False if it alone is over
  // the budget: it is then not kept, nor is the old one.
  bool put(std::string key, Snapshot snapshot, std::chrono::milliseconds ttl = {});

  Snapshot get(std::string_view key);             // none if it is not there; counts as a use
  bool contains(std::string_view key) const;      // counts as nothing
  std::int64_t hits(std::string_view key) const;  // since it was put; 0 if it is not there
  bool remove(std::string_view key);              // false if it was not there
  void clear();

  // The snapshot that has the longest common prefix with `ids`, of those of an equal model and
  // scope that can be forked there. At most all but the last token are in common, whose logits are
  // needed, or all where the snapshot has these. Fewer than min_match are a miss.
  PromptMatch lookup(const PrefixModel& model, std::span<const TokenId> ids,
                     const PrefixScope& scope = {});

  // A key that only snapshots of equal ids, model and scope share.
  static std::string content_key(const Snapshot& snapshot);

  const PromptCacheOptions& options() const;
  PromptCacheStats stats() const;

 private:
  friend struct MarkedPrefixes;
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
