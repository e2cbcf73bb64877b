// SPDX-License-Identifier: Apache-2.0
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "prefix/prefix_store.h"

namespace quire {

PrefixMatch::PrefixMatch() = default;
PrefixMatch::PrefixMatch(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PrefixMatch::PrefixMatch(PrefixMatch&&) noexcept = default;

PrefixMatch& PrefixMatch::operator=(PrefixMatch&& other) noexcept {
  PrefixMatch old(std::move(*this));
  impl_ = std::move(other.impl_);
  return *this;
}

PrefixMatch::~PrefixMatch() {
  if (!impl_) return;
  PrefixCache::Impl& cache = *impl_->cache;
  const PrefixCache::Impl::Access access(cache);
  for (const BlockId held : {impl_->tail, impl_->partial}) {
    if (held != kNoBlock) cache.index.release(held);
  }
  if (impl_->home != nullptr) cache.leave(*impl_->home);
}

std::int64_t PrefixMatch::reused_tokens() const { return impl_ ? impl_->reused.total() : 0; }
std::int64_t PrefixMatch::to_prefill() const { return impl_->asked - reused_tokens(); }
const Reused& PrefixMatch::reused() const { return impl_->reused; }
const WhyNotMore& PrefixMatch::why_not_more() const { return impl_->why; }

std::span<const float> PrefixMatch::logits() const {
  return impl_->logits ? std::span<const float>(*impl_->logits) : std::span<const float>();
}

std::unique_ptr<KvCache> PrefixMatch::make_cache() const {
  return SharedBlocks::give(impl_->pool, impl_->pages, impl_->reused.total());
}

void PrefixMatch::store(std::span<const TokenId> tokens, const KvCache& cache, bool last) {
  const auto* pages = dynamic_cast<const DynamicCache*>(&cache);
  if (pages == nullptr || pages->pool() != impl_->pool || pages->length() < std::ssize(tokens)) {
    throw Error(ErrorCode::kInvalidArgument, "PrefixMatch::store",
                "expected the cache of make_cache() with all of the tokens");
  }
  if (impl_->home == nullptr) return;
  PrefixCache::Impl& store = *impl_->cache;
  const PrefixCache::Impl::Access access(store);
  const std::int64_t size = store.options.block_size;
  const std::int64_t limit = store.limit(tokens);
  std::optional<BlockId> open;
  while (!impl_->full) {
    const std::int64_t from = impl_->stored * size;
    const std::int64_t count = std::min(size, limit - from);
    if (count <= 0 || (count < size && !last)) break;
    const auto block =
        tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
    // The open block that this text has filled up is of no use beside the fuller one.
    if (impl_->partial != kNoBlock) {
      const auto held = store.index.tokens(impl_->partial);
      const bool outgrown =
          std::ssize(held) < count && std::ranges::equal(held, block.first(held.size()));
      store.index.release(impl_->partial);
      if (outgrown) store.index.erase(impl_->partial);
      impl_->partial = kNoBlock;
    }
    const auto kept = store.keep(impl_->space, impl_->tail, block,
                                 SharedBlocks::take(*pages, impl_->stored), store.options.ttl);
    if (!kept) {
      impl_->full = true;
      break;
    }
    store.index.hold(*kept);
    if (count < size) {
      impl_->partial = *kept;
      open = kept;
      break;
    }
    if (impl_->tail != kNoBlock) store.index.release(impl_->tail);
    impl_->tail = *kept;
    ++impl_->stored;
  }
  // What memory has no room for may still go to the tiers.
  std::int64_t offered = open ? limit : impl_->stored * size;
  std::vector<BlockPages> more;
  if (impl_->full && !store.queues.empty()) {
    const std::int64_t end = last ? limit : limit / size * size;
    for (; offered < end; offered = std::min(offered + size, end)) {
      more.push_back(SharedBlocks::take(*pages, offered / size));
    }
  }
  store.offer(*impl_, tokens.first(static_cast<std::size_t>(offered)), open, std::move(more));
}

void PrefixMatch::store_logits(std::span<const TokenId> tokens, std::vector<float> logits) {
  if (impl_->home == nullptr) return;
  const PrefixCache::Impl::Access access(*impl_->cache);
  impl_->cache->logits.keep(impl_->space, tokens, std::move(logits));
}

PrefixCache::PrefixCache(PrefixCacheOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}
PrefixCache::~PrefixCache() = default;

PrefixMatch PrefixCache::lookup(const PrefixModel& model, std::span<const TokenId> tokens,
                                const PrefixScope& scope) {
  return Impl::search(impl_, model, tokens, scope, /*whole=*/false);
}

PrefixMatch PrefixCache::lookup_whole(const PrefixModel& model, std::span<const TokenId> tokens,
                                      const PrefixScope& scope) {
  return Impl::search(impl_, model, tokens, scope, /*whole=*/true);
}

// What was found lets go of its pages when something fails, without the lock.
PrefixMatch PrefixCache::Impl::search(const std::shared_ptr<Impl>& self, const PrefixModel& model,
                                      std::span<const TokenId> tokens, const PrefixScope& scope,
                                      bool whole) {
  PrefixMatch found(std::make_unique<PrefixMatch::Impl>());
  found.impl_->cache = self;
  {
    const Access access(*self);
    self->find(*found.impl_, model, tokens, scope, whole);
    if (self->queues.empty()) self->account(*found.impl_, tokens);
  }
  if (self->queues.empty()) return found;
  self->search_tiers(*found.impl_, tokens);
  const Access access(*self);
  self->account(*found.impl_, tokens);
  return found;
}

std::int64_t PrefixCache::pin(const PrefixModel& model, std::span<const TokenId> tokens,
                              const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  const auto space = impl_->known_space(model, scope);
  if (!space) return 0;
  const auto [block, count] = impl_->chain(*space, tokens, impl_->now());
  if (block == kNoBlock) return 0;
  ++impl_->pins[block];
  impl_->index.hold(block);
  return count;
}

void PrefixCache::unpin(const PrefixModel& model, std::span<const TokenId> tokens,
                        const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  const auto space = impl_->known_space(model, scope);
  if (!space) return;
  // Its time may be over, which is no reason to hold it for ever.
  constexpr std::int64_t kAnyTime = std::numeric_limits<std::int64_t>::min();
  // What was pinned may since have been continued: the deepest pin of the chain is meant.
  for (BlockId block = impl_->chain(*space, tokens, kAnyTime).first; block != kNoBlock;
       block = impl_->index.parent(block)) {
    const auto pin = impl_->pins.find(block);
    if (pin == impl_->pins.end()) continue;
    if (--pin->second == 0) impl_->pins.erase(pin);
    impl_->index.release(block);
    return;
  }
}

void PrefixCache::end_session(const PrefixModel& model, std::span<const TokenId> tokens,
                              const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  const auto space = impl_->known_space(model, scope);
  if (!space) return;
  const IndexMatch match = impl_->index.lookup(*space, tokens, impl_->limit(tokens), impl_->now());
  if (match.partial != kNoBlock) {
    impl_->index.demote(match.partial);
  } else if (!match.blocks.empty()) {
    impl_->index.demote(match.blocks.back());
  }
}

void PrefixCache::clear() {
  const Impl::Access access(*impl_);
  impl_->index.clear();
  impl_->logits.clear();
}

void PrefixCache::flush() { impl_->flush(); }

const PrefixCacheOptions& PrefixCache::options() const { return impl_->options; }

PrefixCacheStats PrefixCache::stats() const {
  std::vector<TierStats> tiers;
  for (const auto& queue : impl_->queues) tiers.push_back(queue->tier().stats());
  const Impl::Access access(*impl_);
  PrefixCacheStats stats = impl_->stats;
  stats.tiers = std::move(tiers);
  const PrefixIndexStats index = impl_->index.stats();
  stats.blocks = index.blocks;
  stats.collisions += index.collisions;
  stats.index_bytes += static_cast<std::int64_t>(index.bytes);
  stats.logits_bytes = impl_->logits.bytes();
  return stats;
}

}  // namespace quire
