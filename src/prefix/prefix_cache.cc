// SPDX-License-Identifier: Apache-2.0
#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <utility>

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
  const PrefixCache::Impl::Access access(*impl_->cache);
  for (const BlockId held : {impl_->tail, impl_->partial}) {
    if (held != kNoBlock) impl_->cache->index.release(held);
  }
}

std::int64_t PrefixMatch::reused_tokens() const { return impl_ ? impl_->reused.total() : 0; }
std::int64_t PrefixMatch::to_prefill() const { return impl_->asked - reused_tokens(); }
const Reused& PrefixMatch::reused() const { return impl_->reused; }
const WhyNotMore& PrefixMatch::why_not_more() const { return impl_->why; }

std::unique_ptr<KvCache> PrefixMatch::make_cache() const {
  return SharedBlocks::give(impl_->pool, impl_->pages, impl_->reused.total());
}

void PrefixMatch::store(std::span<const TokenId> tokens, const KvCache& cache, bool last) {
  const auto* pages = dynamic_cast<const DynamicCache*>(&cache);
  if (pages == nullptr || pages->pool() != impl_->pool || pages->length() < std::ssize(tokens)) {
    throw Error(ErrorCode::kInvalidArgument, "PrefixMatch::store",
                "expected the cache of make_cache() with all of the tokens");
  }
  PrefixCache::Impl& store = *impl_->cache;
  const PrefixCache::Impl::Access access(store);
  const std::int64_t size = store.options.block_size;
  const std::int64_t limit = store.limit(tokens);
  if (store.options.bytes == 0) return;
  while (!impl_->full) {
    const std::int64_t from = impl_->stored * size;
    const std::int64_t count = std::min(size, limit - from);
    if (count <= 0 || (count < size && !last)) return;
    const auto block =
        tokens.subspan(static_cast<std::size_t>(from), static_cast<std::size_t>(count));
    // The open block that this text has filled up is of no use beside the fuller one.
    if (impl_->partial != kNoBlock) {
      const auto open = store.index.tokens(impl_->partial);
      const bool outgrown =
          std::ssize(open) < count && std::ranges::equal(open, block.first(open.size()));
      store.index.release(impl_->partial);
      if (outgrown) store.index.erase(impl_->partial);
      impl_->partial = kNoBlock;
    }
    const auto kept =
        store.keep(impl_->space, impl_->tail, block, SharedBlocks::take(*pages, impl_->stored));
    if (!kept) {
      impl_->full = true;
      return;
    }
    store.index.hold(*kept);
    if (count < size) {
      impl_->partial = *kept;
      return;
    }
    if (impl_->tail != kNoBlock) store.index.release(impl_->tail);
    impl_->tail = *kept;
    ++impl_->stored;
  }
}

PrefixCache::PrefixCache(PrefixCacheOptions options)
    : impl_(std::make_shared<Impl>(std::move(options))) {}
PrefixCache::~PrefixCache() = default;

PrefixMatch PrefixCache::lookup(const PrefixModel& model, std::span<const TokenId> tokens,
                                const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  auto match = impl_->find(model, tokens, scope);
  match->cache = impl_;
  return PrefixMatch(std::move(match));
}

std::int64_t PrefixCache::pin(const PrefixModel& model, std::span<const TokenId> tokens,
                              const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  const auto [block, count] = impl_->chain(impl_->space_of(model, scope), tokens);
  if (block == kNoBlock) return 0;
  ++impl_->pins[block];
  impl_->index.hold(block);
  return count;
}

void PrefixCache::unpin(const PrefixModel& model, std::span<const TokenId> tokens,
                        const PrefixScope& scope) {
  const Impl::Access access(*impl_);
  // What was pinned may since have been continued: the deepest pin of the chain is meant.
  for (BlockId block = impl_->chain(impl_->space_of(model, scope), tokens).first; block != kNoBlock;
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
  const IndexMatch match = impl_->index.lookup(impl_->space_of(model, scope), tokens,
                                               impl_->limit(tokens), impl_->now());
  if (match.partial != kNoBlock) {
    impl_->index.demote(match.partial);
  } else if (!match.blocks.empty()) {
    impl_->index.demote(match.blocks.back());
  }
}

void PrefixCache::clear() {
  const Impl::Access access(*impl_);
  impl_->index.clear();
}

const PrefixCacheOptions& PrefixCache::options() const { return impl_->options; }

PrefixCacheStats PrefixCache::stats() const {
  const Impl::Access access(*impl_);
  PrefixCacheStats stats = impl_->stats;
  const PrefixIndexStats index = impl_->index.stats();
  stats.blocks = index.blocks;
  stats.collisions = index.collisions;
  stats.index_bytes = static_cast<std::int64_t>(index.bytes);
  return stats;
}

std::string PrefixCache::prometheus() const {
  const PrefixCacheStats s = stats();
  std::string text;
  const auto add = [&text](std::string_view name, std::string_view type, std::string_view help,
                           std::int64_t value) {
    const std::string full = "quire_prefix_cache_" + std::string(name);
    text += "# HELP " + full + " " + std::string(help) + "\n# TYPE " + full + " " +
            std::string(type) + "\n" + full + " " + std::to_string(value) + "\n";
  };
  add("lookups_total", "counter", "Lookups.", s.lookups);
  add("asked_tokens_total", "counter", "Prompt tokens looked up.", s.asked_tokens);
  add("memory_tokens_total", "counter", "Prompt tokens reused as whole pages.", s.memory_tokens);
  add("copied_tokens_total", "counter", "Prompt tokens reused from part of a page.",
      s.copied_tokens);
  add("stored_blocks_total", "counter", "Blocks stored.", s.stored_blocks);
  add("evicted_blocks_total", "counter", "Blocks evicted for room.", s.evicted_blocks);
  add("expired_blocks_total", "counter", "Blocks whose time to live ended.", s.expired_blocks);
  add("rejected_blocks_total", "counter", "Blocks there was no room for.", s.rejected_blocks);
  add("collisions_total", "counter", "Equal keys of different texts.", s.collisions);
  add("blocks", "gauge", "Blocks kept.", s.blocks);
  add("bytes", "gauge", "Bytes of pages kept.", s.bytes);
  add("index_bytes", "gauge", "Bytes of the index.", s.index_bytes);
  return text;
}

}  // namespace quire
