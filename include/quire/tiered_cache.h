// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/cache_level.h>
#include <quire/error.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace quire {

struct TieredCacheOptions {
  std::size_t l1_entries = 100;   // at least 1
  std::size_t l2_entries = 1000;  // 0: what leaves level 1 is gone
};

struct TieredCacheStats {
  std::int64_t l1_hits = 0;
  std::int64_t l2_hits = 0;
  std::int64_t l3_hits = 0;
  std::int64_t misses = 0;
  std::int64_t promotions = 0;   // to level 1
  std::int64_t demotions = 0;    // from level 1 to level 2
  std::int64_t evictions = 0;    // out of level 2
  std::int64_t l3_failures = 0;  // calls that threw
};

// Values by key at two levels in memory: a small one for what was used last and a larger one for
// what was there before. Each key is at one of the two. A hit at level 2 promotes its entry, and
// the entry of level 1 that was not used for longest takes its place.
//
//   quire::TieredCache<std::string, std::string> levels({.l1_entries = 100, .l2_entries = 1000});
//   levels.put("key", "value");
//   if (auto value = levels.get("key")) use(*value);
//
// New entries go to level 1, and to level 3 if there is one. What level 3 has comes back to
// level 1.
//
// Thread-safety: all methods may be called concurrently. Level 3 is called outside the lock, so its
// own methods must allow that; between get and a concurrent put or erase of the same key the last
// to finish holds.
template <typename Key, typename Value, typename Hash = std::hash<Key>>
class TieredCache {
 public:
  using Level = CacheLevel<Key, Value>;

  // Throws Error kInvalidArgument for an empty level 1.
  explicit TieredCache(const TieredCacheOptions& options = {}, std::shared_ptr<Level> l3 = nullptr)
      : options_(options), l3_(std::move(l3)) {
    if (options.l1_entries == 0) {
      throw Error(ErrorCode::kInvalidArgument, "l1_entries", "expected at least 1, found 0");
    }
  }

  void put(const Key& key, Value value) {
    if (l3_) guarded([&] { l3_->put(key, value); });
    const std::lock_guard lock(mutex_);
    insert(key, std::move(value));
  }

  std::optional<Value> get(const Key& key) {
    {
      const std::lock_guard lock(mutex_);
      if (auto value = find(key)) return value;
    }
    std::optional<Value> value;
    if (l3_) guarded([&] { value = l3_->get(key); });
    const std::lock_guard lock(mutex_);
    if (!value) {
      ++stats_.misses;
      return value;
    }
    ++stats_.l3_hits;
    // Somebody may have put a newer value meanwhile.
    if (!places_.contains(key)) {
      insert(key, *value);
      ++stats_.promotions;
    }
    return value;
  }

  // True if a level in memory had it.
  bool erase(const Key& key) {
    if (l3_) guarded([&] { l3_->erase(key); });
    const std::lock_guard lock(mutex_);
    const auto found = places_.find(key);
    if (found == places_.end()) return false;
    level(found->second.first).erase(found->second.second);
    places_.erase(found);
    return true;
  }

  // Empties the levels in memory.
  void clear() {
    const std::lock_guard lock(mutex_);
    places_.clear();
    l1_.clear();
    l2_.clear();
  }

  std::size_t l1_size() const {
    const std::lock_guard lock(mutex_);
    return l1_.size();
  }

  std::size_t l2_size() const {
    const std::lock_guard lock(mutex_);
    return l2_.size();
  }

  TieredCacheStats stats() const {
    const std::lock_guard lock(mutex_);
    return stats_;
  }

 private:
  // Most recently used first.
  using Entries = std::list<std::pair<Key, Value>>;
  using Place = std::pair<bool, typename Entries::iterator>;  // at level 1?

  Entries& level(bool first) { return first ? l1_ : l2_; }

  template <typename Call>
  void guarded(const Call& call) {
    try {
      call();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      ++stats_.l3_failures;
    }
  }

  std::optional<Value> find(const Key& key) {
    const auto found = places_.find(key);
    if (found == places_.end()) return std::nullopt;
    auto& [first, entry] = found->second;
    if (first) {
      ++stats_.l1_hits;
      l1_.splice(l1_.begin(), l1_, entry);
      return entry->second;
    }
    ++stats_.l2_hits;
    ++stats_.promotions;
    l1_.splice(l1_.begin(), l2_, entry);
    first = true;
    fit();
    return entry->second;
  }

  void insert(const Key& key, Value value) {
    const auto found = places_.find(key);
    if (found != places_.end()) {
      auto& [first, entry] = found->second;
      entry->second = std::move(value);
      l1_.splice(l1_.begin(), level(first), entry);
      first = true;
    } else {
      l1_.emplace_front(key, std::move(value));
      try {
        places_.emplace(key, Place{true, l1_.begin()});
      } catch (...) {
        l1_.pop_front();
        throw;
      }
    }
    fit();
  }

  // Moves the oldest of level 1 down and lets the oldest of level 2 go.
  void fit() {
    while (l1_.size() > options_.l1_entries) {
      places_.at(l1_.back().first).first = false;
      l2_.splice(l2_.begin(), l1_, std::prev(l1_.end()));
      if (options_.l2_entries > 0) ++stats_.demotions;
    }
    while (l2_.size() > options_.l2_entries) {
      places_.erase(l2_.back().first);
      l2_.pop_back();
      ++stats_.evictions;
    }
  }

  TieredCacheOptions options_;
  std::shared_ptr<Level> l3_;
  mutable std::mutex mutex_;
  Entries l1_;
  Entries l2_;
  std::unordered_map<Key, Place, Hash> places_;
  TieredCacheStats stats_;
};

}  // namespace quire
