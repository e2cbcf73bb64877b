// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prompt_cache.h>

#include <chrono>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "prefix/name_space.h"

namespace quire {

class PromptCache::Impl {
 public:
  using Milliseconds = std::chrono::milliseconds;

  struct Entry {
    Snapshot snapshot;
    BlockKey space;           // its model and scope
    std::uint64_t rank = 0;   // the lowest goes first
    Milliseconds ttl{0};      // 0: for ever
    Milliseconds expires{0};  // where there is a ttl
    std::int64_t hits = 0;
    bool marked = false;  // kept for a mark in messages
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  explicit Impl(PromptCacheOptions given);

  // REQUIRES of everything below: `mutex` is held.
  bool put(std::string key, Entry entry, Milliseconds ttl);
  Entries::iterator find(std::string_view key);  // one that is alive
  void use(Entries::iterator entry);
  void erase(Entries::iterator entry, MissReason reason);
  void drop_expired();
  Milliseconds now() const;
  bool expired(const Entry& entry) const;

  // Why what was kept under `key` is gone; kCold if nobody remembers.
  MissReason why_gone(std::string_view key) const;

  const PromptCacheOptions options;
  mutable std::mutex mutex;
  Entries entries;
  PromptCacheStats stats;

 private:
  void forget_reason(std::string_view key);

  std::map<std::uint64_t, std::string> by_rank_;
  std::uint64_t next_rank_ = 0;
  // The keys that went last, and why.
  std::deque<std::pair<std::string, MissReason>> gone_;
};

// The digest of a snapshot's model and scope.
BlockKey space_of(const PrefixModel& model, const PrefixScope& scope);
std::string content_key(const BlockKey& space, std::span<const TokenId> ids);

}  // namespace quire
