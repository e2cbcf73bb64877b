// SPDX-License-Identifier: Apache-2.0
#include "prompt/marked_prefixes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "prompt/prompt_store.h"

namespace quire {
namespace {

// Apart from snapshots of an equal content: a mark that nobody set before is newly stored.
std::string marked_key(const BlockKey& space, std::span<const TokenId> ids) {
  return "mark:" + content_key(space, ids);
}

}  // namespace

Snapshot MarkedPrefixes::longest(PromptCache& cache, const PrefixModel& model,
                                 const PrefixScope& scope, std::span<const TokenId> ids) {
  const BlockKey space = space_of(model, scope);
  PromptCache::Impl& store = *cache.impl_;
  const std::lock_guard lock(store.mutex);
  store.drop_expired();
  auto best = store.entries.end();
  for (auto entry = store.entries.begin(); entry != store.entries.end(); ++entry) {
    if (!entry->second.marked || entry->second.space != space) continue;
    const std::span<const TokenId> held = entry->second.snapshot.ids();
    if (held.size() > ids.size() || !std::ranges::equal(held, ids.first(held.size()))) continue;
    if (best == store.entries.end() || held.size() > best->second.snapshot.ids().size()) {
      best = entry;
    }
  }
  if (best == store.entries.end()) {
    ++store.stats.misses;
    return {};
  }
  store.use(best);
  best->second.expires = store.now() + best->second.ttl;
  return best->second.snapshot;
}

void MarkedPrefixes::put(PromptCache& cache, Snapshot snapshot, std::chrono::milliseconds ttl) {
  const BlockKey space = space_of(snapshot.model(), snapshot.scope());
  std::string key = marked_key(space, snapshot.ids());
  PromptCache::Impl& store = *cache.impl_;
  const std::lock_guard lock(store.mutex);
  store.put(std::move(key), {.snapshot = std::move(snapshot), .space = space, .marked = true}, ttl);
}

MissReason MarkedPrefixes::why_gone(PromptCache& cache, const PrefixModel& model,
                                    const PrefixScope& scope, std::span<const TokenId> ids) {
  const std::lock_guard lock(cache.impl_->mutex);
  return cache.impl_->why_gone(marked_key(space_of(model, scope), ids));
}

}  // namespace quire
