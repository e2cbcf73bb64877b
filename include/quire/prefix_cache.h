// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/page_tier.h>
#include <quire/prefix_index.h>
#include <quire/prefix_scope.h>
#include <quire/result.h>
#include <quire/token.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// What happened to a block; the observer is never called under a lock.
struct PrefixEvent {
  enum class Kind { kStored, kEvicted, kExpired, kRejected, kLoaded };
  Kind kind;
  BlockKey key;
  std::int64_t tokens;
  std::string_view tier = "memory";  // "disk", "remote": where it was stored, or loaded from
};

struct PrefixCacheOptions {
  // Behaviour.
  std::int64_t bytes = 256ll << 20;    // of pages kept for later; 0: keep nothing
  std::int64_t block_size = 32;        // tokens a page: 16, 32 or 64
  std::string policy = "lru";          // see make_eviction_policy
  std::chrono::milliseconds ttl{0};    // after being stored the last time; 0: for ever
  std::int64_t max_prefix_tokens = 0;  // of a text, keep and reuse at most so many; 0: all
  // Of logits after prompts, beside the pages: one that comes again then needs no pass. 0: none.
  std::int64_t logits_bytes = 0;
  bool explain_across_namespaces = false;  // say that another namespace holds a text
  // Behind the memory, in this order: what is evicted here, or computed by another process, is
  // found there. See page_tier.h.
  std::string disk_path = {};                         // an SQLite file; empty: none
  std::int64_t disk_bytes = 4ll << 30;                // its size at most
  std::string redis_url = {};                         // shared by machines; empty: none
  std::chrono::milliseconds redis_timeout{250};       // the most that a lookup waits for it
  std::vector<std::shared_ptr<PageTier>> tiers = {};  // any others
  std::int64_t queue_bytes = 256ll << 20;  // of pages that wait to be written to one of them
  // For applications that want their own clock or an account of events. What on_event throws is
  // dropped, and so is an event for which there is no memory.
  std::function<std::chrono::milliseconds()> now = {};
  std::function<void(const PrefixEvent&)> on_event = {};
  int hash_bits = 128;  // fewer: to provoke collisions in tests
};

struct PrefixCacheStats {
  std::int64_t lookups = 0;
  std::int64_t asked_tokens = 0;
  std::int64_t memory_tokens = 0;  // reused as whole pages
  std::int64_t copied_tokens = 0;  // reused from part of a page
  std::int64_t disk_tokens = 0;    // reused from tiers
  std::int64_t remote_tokens = 0;
  std::int64_t whole_prompts = 0;  // of which all was reused, the logits after it too
  std::int64_t bytes = 0;          // of pages kept
  std::int64_t logits_bytes = 0;
  std::int64_t stored_blocks = 0;
  std::int64_t evicted_blocks = 0;
  std::int64_t expired_blocks = 0;
  std::int64_t rejected_blocks = 0;
  std::int64_t collisions = 0;      // of hashes, each of them a miss
  std::int64_t blocks = 0;          // kept now
  std::int64_t index_bytes = 0;     // what is known of namespaces included
  std::int64_t dropped_blocks = 0;  // not written to a tier, since too many waited already
  std::vector<TierStats> tiers;
};

class PrefixCache;

// What a lookup found, held: its pages stay while the handle lives.
//
// Thread-safety: one thread at a time. Must not outlive its PrefixCache.
class QUIRE_EXPORT PrefixMatch {
 public:
  PrefixMatch();
  ~PrefixMatch();
  PrefixMatch(PrefixMatch&&) noexcept;
  PrefixMatch& operator=(PrefixMatch&&) noexcept;

  std::int64_t reused_tokens() const;
  std::int64_t to_prefill() const;  // tokens that are left to compute
  const Reused& reused() const;     // reused_tokens by source
  const WhyNotMore& why_not_more() const;

  // After the last token; empty unless all tokens are reused, which only lookup_whole does.
  std::span<const float> logits() const;

  // A DynamicCache that begins with the reused tokens; it shares their pages until it writes.
  std::unique_ptr<KvCache> make_cache() const;

  // Keeps every page of `cache` that is full by now, of a text that begins with `tokens`, all of
  // which the cache holds; with `last`, also the open one. Call it after each pass of a request,
  // or just once at the end. REQUIRES: the cache came from make_cache() of this match.
  void store(std::span<const TokenId> tokens, const KvCache& cache, bool last = true);

  // Keeps the logits [V] after the text that was looked up, if there is room for such. Its pages
  // are stored as ever.
  void store_logits(std::span<const TokenId> tokens, std::vector<float> logits);

 private:
  friend class PrefixCache;
  struct Impl;
  explicit PrefixMatch(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Keeps the pages of texts that were computed, and finds the longest known prefix of a new one:
// whole pages by a chain of hashes that is proved by the stored token ids, and the matching part
// of the page after them. What is reused is bit for bit what would be computed.
//
// Pages of several models may live in one cache, within one budget. Of a model and scope nothing
// stays when the last of its pages has left the memory. A fault of the cache is a counted miss,
// never a failed request.
//
// Thread-safety: internally synchronised; share it between generators and threads.
class QUIRE_EXPORT PrefixCache {
 public:
  // Throws Error kInvalidArgument, kOutOfMemory if the system has no thread for a tier, and as
  // make_disk_tier and make_redis_tier.
  explicit PrefixCache(PrefixCacheOptions options = {});
  ~PrefixCache();
  PrefixCache(const PrefixCache&) = delete;
  PrefixCache& operator=(const PrefixCache&) = delete;

  // The longest known prefix of `tokens`, at most all but the last one, whose logits are needed.
  PrefixMatch lookup(const PrefixModel& model, std::span<const TokenId> tokens,
                     const PrefixScope& scope = {});

  // The same, and of a text whose logits are kept all tokens, if their pages still are.
  PrefixMatch lookup_whole(const PrefixModel& model, std::span<const TokenId> tokens,
                           const PrefixScope& scope = {});

  // Keeps a known prefix from eviction until as many unpin calls. Its time to live runs on: when
  // that is over, nobody finds it until it is stored again. Returns the tokens pinned, a
  // multiple of block_size.
  std::int64_t pin(const PrefixModel& model, std::span<const TokenId> tokens,
                   const PrefixScope& scope = {});
  void unpin(const PrefixModel& model, std::span<const TokenId> tokens,
             const PrefixScope& scope = {});

  // The conversation with these tokens is over: its pages go first.
  void end_session(const PrefixModel& model, std::span<const TokenId> tokens,
                   const PrefixScope& scope = {});

  // Forgets everything that nobody holds; tiers keep what they have.
  void clear();

  // Waits until the tiers have what was stored so far. The destructor does so too.
  void flush();

  const PrefixCacheOptions& options() const;
  PrefixCacheStats stats() const;

  // The statistics in Prometheus' text format, names starting with quire_prefix_cache_.
  std::string prometheus() const;

 private:
  friend class PrefixMatch;
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace quire
