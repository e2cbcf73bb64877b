// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/prompt_cache.h>

#include <algorithm>
#include <array>
#include <utility>

#include "io/saturate.h"
#include "prompt/common_prefix.h"
#include "prompt/prompt_store.h"

namespace quire {
namespace {

constexpr std::size_t kRemembered = 1024;  // keys that went

PromptCacheOptions checked(PromptCacheOptions options) {
  const auto at_least = [](std::string_view field, std::int64_t value, std::int64_t least) {
    if (value >= least) return;
    throw Error(ErrorCode::kInvalidArgument, "PromptCacheOptions::" + std::string(field),
                "expected at least " + std::to_string(least) + ", found " + std::to_string(value));
  };
  at_least("max_entries", options.max_entries, 1);
  at_least("bytes", options.bytes, 0);
  at_least("ttl", options.ttl.count(), 0);
  at_least("min_match", options.min_match, 1);
  at_least("min_cacheable", options.min_cacheable, 1);
  if (!options.now) {
    options.now = [] {
      return std::chrono::duration_cast<std::chrono::milliseconds>(
          std::chrono::steady_clock::now().time_since_epoch());
    };
  }
  return options;
}

}  // namespace

BlockKey space_of(const PrefixModel& model, const PrefixScope& scope) {
  return make_name_space(model, 0, scope).digest();
}

std::string content_key(const BlockKey& space, std::span<const TokenId> ids) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  const BlockKey key = block_key(space, space, ids);
  std::string hex;
  for (const std::uint64_t half : {key.high, key.low}) {
    for (int shift = 60; shift >= 0; shift -= 4) hex += kDigits[half >> shift & 15];
  }
  return hex;
}

PromptCache::Impl::Impl(PromptCacheOptions given) : options(checked(std::move(given))) {}

PromptCache::Impl::Milliseconds PromptCache::Impl::now() const { return options.now(); }

bool PromptCache::Impl::expired(const Entry& entry) const {
  return entry.ttl.count() > 0 && now() >= entry.expires;
}

MissReason PromptCache::Impl::why_gone(std::string_view key) const {
  const auto found = std::find_if(gone_.rbegin(), gone_.rend(),
                                  [&](const auto& gone) { return gone.first == key; });
  return found == gone_.rend() ? MissReason::kCold : found->second;
}

void PromptCache::Impl::forget_reason(std::string_view key) {
  std::erase_if(gone_, [&](const auto& gone) { return gone.first == key; });
}

void PromptCache::Impl::erase(Entries::iterator entry, MissReason reason) {
  if (reason == MissReason::kExpired) ++stats.expired;
  if (reason == MissReason::kEvicted) ++stats.evicted;
  if (reason != MissReason::kNone) {
    gone_.emplace_back(entry->first, reason);
    if (gone_.size() > kRemembered) gone_.pop_front();
  }
  stats.bytes -= entry->second.snapshot.bytes();
  by_rank_.erase(entry->second.rank);
  entries.erase(entry);
}

void PromptCache::Impl::drop_expired() {
  for (auto entry = entries.begin(); entry != entries.end();) {
    const auto current = entry++;
    if (expired(current->second)) erase(current, MissReason::kExpired);
  }
}

PromptCache::Impl::Entries::iterator PromptCache::Impl::find(std::string_view key) {
  const auto entry = entries.find(key);
  if (entry == entries.end() || !expired(entry->second)) return entry;
  erase(entry, MissReason::kExpired);
  return entries.end();
}

void PromptCache::Impl::use(Entries::iterator entry) {
  ++entry->second.hits;
  ++stats.hits;
  if (options.eviction == PromptCacheOptions::Eviction::kOldest) return;
  auto node = by_rank_.extract(entry->second.rank);
  node.key() = entry->second.rank = next_rank_++;
  by_rank_.insert(std::move(node));
}

bool PromptCache::Impl::put(std::string key, Entry entry, Milliseconds ttl) {
  ++stats.puts;
  if (const auto old = entries.find(key); old != entries.end()) erase(old, MissReason::kNone);
  forget_reason(key);
  const std::int64_t bytes = entry.snapshot.bytes();
  if (bytes > options.bytes) {
    ++stats.rejected;
    return false;
  }
  drop_expired();
  while (std::ssize(entries) >= options.max_entries || stats.bytes + bytes > options.bytes) {
    erase(entries.find(by_rank_.begin()->second), MissReason::kEvicted);
  }
  entry.ttl = ttl.count() > 0 ? ttl : options.ttl;
  entry.expires = Milliseconds(saturating_sum(now().count(), entry.ttl.count()));
  entry.rank = next_rank_++;
  const auto rank = by_rank_.emplace(entry.rank, key).first;
  try {
    entries.emplace(std::move(key), std::move(entry));
  } catch (...) {
    by_rank_.erase(rank);
    throw;
  }
  stats.bytes += bytes;
  return true;
}

PromptCache::PromptCache(PromptCacheOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
PromptCache::~PromptCache() = default;

bool PromptCache::put(std::string key, Snapshot snapshot, std::chrono::milliseconds ttl) {
  if (!snapshot) throw Error(ErrorCode::kInvalidArgument, key, "expected a snapshot, found none");
  if (ttl.count() < 0) {
    throw Error(ErrorCode::kInvalidArgument, key,
                "expected a time to live of at least 0, found " + std::to_string(ttl.count()));
  }
  const BlockKey space = space_of(snapshot.model(), snapshot.scope());
  const std::lock_guard lock(impl_->mutex);
  return impl_->put(std::move(key), {.snapshot = std::move(snapshot), .space = space}, ttl);
}

Snapshot PromptCache::get(std::string_view key) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->find(key);
  if (entry == impl_->entries.end()) {
    ++impl_->stats.misses;
    return {};
  }
  impl_->use(entry);
  return entry->second.snapshot;
}

bool PromptCache::contains(std::string_view key) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->find(key) != impl_->entries.end();
}

std::int64_t PromptCache::hits(std::string_view key) const {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->find(key);
  return entry == impl_->entries.end() ? 0 : entry->second.hits;
}

bool PromptCache::remove(std::string_view key) {
  const std::lock_guard lock(impl_->mutex);
  const auto entry = impl_->find(key);
  if (entry == impl_->entries.end()) return false;
  impl_->erase(entry, MissReason::kNone);
  return true;
}

void PromptCache::clear() {
  const std::lock_guard lock(impl_->mutex);
  while (!impl_->entries.empty()) impl_->erase(impl_->entries.begin(), MissReason::kNone);
}

PromptMatch PromptCache::lookup(const PrefixModel& model, std::span<const TokenId> ids,
                                const PrefixScope& scope) {
  const BlockKey space = space_of(model, scope);
  const std::lock_guard lock(impl_->mutex);
  impl_->drop_expired();
  PromptMatch best;
  best.why = {.reason = MissReason::kCold, .at = 0};
  auto found = impl_->entries.end();
  for (auto entry = impl_->entries.begin(); entry != impl_->entries.end(); ++entry) {
    if (entry->second.space != space) continue;
    const Snapshot& snapshot = entry->second.snapshot;
    const bool whole = !snapshot.logits().empty() && std::ranges::equal(snapshot.ids(), ids);
    const CommonPrefix common =
        common_prefix(snapshot.ids(), ids, std::ssize(ids) - (whole ? 0 : 1));
    if (common.tokens <= best.tokens || !snapshot.can_fork(common.tokens)) continue;
    best.tokens = common.tokens;
    best.why = common.why;
    found = entry;
  }
  if (best.tokens < impl_->options.min_match) {
    ++impl_->stats.misses;
    if (best.tokens > 0) best.why = {.reason = MissReason::kBelowMinimum, .at = 0};
    best.tokens = 0;
    return best;
  }
  impl_->use(found);
  best.snapshot = found->second.snapshot;
  best.key = found->first;
  return best;
}

std::string PromptCache::content_key(const Snapshot& snapshot) {
  return quire::content_key(space_of(snapshot.model(), snapshot.scope()), snapshot.ids());
}

const PromptCacheOptions& PromptCache::options() const { return impl_->options; }

PromptCacheStats PromptCache::stats() const {
  const std::lock_guard lock(impl_->mutex);
  impl_->drop_expired();
  PromptCacheStats stats = impl_->stats;
  stats.entries = std::ssize(impl_->entries);
  return stats;
}

}  // namespace quire
