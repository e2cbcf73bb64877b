// SPDX-License-Identifier: Apache-2.0
#include "prefix/prefix_store.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

namespace quire {
namespace {

PrefixCacheOptions checked(PrefixCacheOptions options) {
  const auto refuse = [](std::string_view field, std::string_view expected, std::int64_t found) {
    throw Error(ErrorCode::kInvalidArgument, field,
                "expected " + std::string(expected) + ", found " + std::to_string(found));
  };
  if (options.bytes < 0) refuse("bytes", "at least 0", options.bytes);
  if (options.block_size != 16 && options.block_size != 32 && options.block_size != 64) {
    refuse("block_size", "16, 32 or 64", options.block_size);
  }
  if (options.ttl.count() < 0) refuse("ttl", "at least 0", options.ttl.count());
  if (options.logits_bytes < 0) refuse("logits_bytes", "at least 0", options.logits_bytes);
  if (options.max_prefix_tokens < 0) {
    refuse("max_prefix_tokens", "at least 0", options.max_prefix_tokens);
  }
  if (options.hash_bits < 1 || options.hash_bits > 128) {
    refuse("hash_bits", "1 to 128", options.hash_bits);
  }
  return options;
}

}  // namespace

PrefixCache::Impl::Impl(PrefixCacheOptions given)
    : options(checked(std::move(given))), index(index_options()), logits(options.logits_bytes) {
  start_tiers();
}

PrefixIndexOptions PrefixCache::Impl::index_options() {
  PrefixIndexOptions made;
  made.block_size = options.block_size;
  made.policy = make_eviction_policy(options.policy);
  made.hash_bits = options.hash_bits;
  made.on_evict = [this](const EvictedBlock& block) { forget(block); };
  return made;
}

PrefixCache::Impl::Access::~Access() {
  std::vector<PrefixEvent> events;
  events.swap(impl_.events_);
  lock_.unlock();
  if (!impl_.options.on_event) return;
  for (const PrefixEvent& event : events) impl_.options.on_event(event);
}

std::int64_t PrefixCache::Impl::now() const {
  if (options.now) return options.now().count();
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(since).count();
}

std::int64_t PrefixCache::Impl::limit(std::span<const TokenId> tokens) const {
  const std::int64_t size = std::ssize(tokens);
  return options.max_prefix_tokens > 0 ? std::min(size, options.max_prefix_tokens) : size;
}

std::shared_ptr<PagePool> PrefixCache::Impl::pool_for(const KvSpec& spec) {
  for (const auto& [digest, space] : spaces_) {
    if (space.pool->spec() == spec) return space.pool;
  }
  return std::make_shared<PagePool>(spec, PagePoolOptions{.block_size = options.block_size});
}

BlockKey PrefixCache::Impl::space_of(const PrefixModel& model, const PrefixScope& scope) {
  NameSpace fields = make_name_space(model, options.block_size, scope);
  const BlockKey digest = fields.digest();
  const std::pair key(digest.low, digest.high);
  if (!spaces_.contains(key)) {
    Space space{std::move(fields), pool_for(model.kv)};
    spaces_.emplace(key, std::move(space));
  }
  return digest;
}

void PrefixCache::Impl::forget(const EvictedBlock& block) {
  const bool expired = block.reason == MissReason::kExpired;
  if (options.on_event && block.reason != MissReason::kNone) {
    events_.push_back({expired ? PrefixEvent::Kind::kExpired : PrefixEvent::Kind::kEvicted,
                       index.key(block.block), std::ssize(index.tokens(block.block))});
  }
  Kept& kept = kept_[block.payload];
  stats.bytes -= SharedBlocks::bytes(kept.pages);
  kept = {};
  free_payloads_.push_back(block.payload);
  if (block.reason == MissReason::kNone) return;
  ++(expired ? stats.expired_blocks : stats.evicted_blocks);
}

std::unique_ptr<PrefixMatch::Impl> PrefixCache::Impl::find(const PrefixModel& model,
                                                           std::span<const TokenId> tokens,
                                                           const PrefixScope& scope, bool whole) {
  auto match = std::make_unique<PrefixMatch::Impl>();
  match->space = space_of(model, scope);
  match->pool = space(match->space).pool;
  match->asked = std::ssize(tokens);
  ++stats.lookups;
  stats.asked_tokens += match->asked;
  if (whole) match->logits = logits.find(match->space, tokens);
  match->most = std::min(limit(tokens), match->asked - (match->logits ? 0 : 1));
  if (options.bytes == 0) return match;

  IndexMatch found = index.lookup(match->space, tokens, match->most, now());
  match->why = {.reason = found.reason};
  if (found.reason != MissReason::kNone) match->why.at = found.tokens;
  if (found.reason == MissReason::kDiverged) {
    match->why.had = found.had;
    match->why.got = found.got;
  }

  // Windowed layers may have lost pages that the next token needs: then stop earlier.
  std::vector<const BlockPages*> blocks;
  for (const BlockId id : found.blocks) blocks.push_back(&kept_[index.payload(id)].pages);
  std::int64_t usable = found.tokens;
  if (found.partial != kNoBlock) {
    blocks.push_back(&kept_[index.payload(found.partial)].pages);
  }
  while (!SharedBlocks::usable(*match->pool, blocks, usable)) {
    blocks.pop_back();
    usable = std::ssize(blocks) * options.block_size;
    match->why = {.reason = MissReason::kEvicted, .at = usable};
  }
  for (const BlockPages* pages : blocks) match->pages.push_back(*pages);
  match->reused.memory = usable / options.block_size * options.block_size;
  match->reused.copied = usable % options.block_size;

  match->stored = match->reused.memory / options.block_size;
  if (match->stored > 0) {
    match->tail = found.blocks[static_cast<std::size_t>(match->stored - 1)];
    index.hold(match->tail);
  }
  if (match->reused.copied > 0) {
    match->partial = found.partial;
    index.hold(match->partial);
  }
  return match;
}

void PrefixCache::Impl::account(PrefixMatch::Impl& match, std::span<const TokenId> tokens) {
  if (match.reused.total() < match.asked) match.logits.reset();
  if (match.logits) ++stats.whole_prompts;
  stats.memory_tokens += match.reused.memory;
  stats.copied_tokens += match.reused.copied;
  stats.disk_tokens += match.reused.disk;
  stats.remote_tokens += match.reused.remote;
  explain(match, match.space, tokens);
}

// Looks whether another namespace knows more of the text, if that may be told.
void PrefixCache::Impl::explain(PrefixMatch::Impl& match, const BlockKey& own,
                                std::span<const TokenId> tokens) {
  if (!options.explain_across_namespaces || match.why.reason == MissReason::kNone) return;
  std::int64_t most = match.reused.total();
  for (const auto& [digest, other] : spaces_) {
    const BlockKey key{digest.first, digest.second};
    if (key == own) continue;
    const std::int64_t there = index.peek(key, tokens, std::ssize(tokens) - 1);
    if (there <= most) continue;
    most = there;
    match.why = {.reason = MissReason::kOtherNamespace,
                 .at = match.reused.total(),
                 .field = std::string(space(own).fields.difference(other.fields))};
  }
}

std::optional<BlockId> PrefixCache::Impl::keep(const BlockKey& space, BlockId parent,
                                               std::span<const TokenId> tokens, BlockPages pages,
                                               std::chrono::milliseconds ttl) {
  // What can fail for want of memory comes before the index knows of the block.
  if (free_payloads_.empty()) {
    kept_.emplace_back();
    free_payloads_.reserve(kept_.capacity());  // so that forget() always can
    free_payloads_.push_back(kept_.size() - 1);
  }
  const std::uint64_t payload = free_payloads_.back();
  kept_[payload].pages.resize(pages.size());
  const std::int64_t expires = ttl.count() > 0 ? now() + ttl.count() : 0;
  const auto id = index.insert(space, parent, tokens, {.payload = payload, .expires = expires});
  if (!id) return std::nullopt;
  const bool is_new = index.payload(*id) == payload;
  if (is_new) free_payloads_.pop_back();

  BlockPages& kept = kept_[index.payload(*id)].pages;
  std::int64_t added = 0;
  for (std::size_t g = 0; g < pages.size(); ++g) {
    if (kept[g] || !pages[g]) continue;
    added += pages[g]->bytes();
    kept[g] = std::move(pages[g]);
  }
  stats.bytes += added;
  index.hold(*id);
  while (stats.bytes > options.bytes && index.evict_one()) {
  }
  index.release(*id);
  if (stats.bytes > options.bytes) {
    ++stats.rejected_blocks;
    if (options.on_event) {
      events_.push_back({PrefixEvent::Kind::kRejected, index.key(*id), std::ssize(tokens)});
    }
    index.erase(*id);
    return std::nullopt;
  }
  if (is_new) {
    ++stats.stored_blocks;
    if (options.on_event) {
      events_.push_back({PrefixEvent::Kind::kStored, index.key(*id), std::ssize(tokens)});
    }
  }
  return id;
}

std::pair<BlockId, std::int64_t> PrefixCache::Impl::chain(const BlockKey& space,
                                                          std::span<const TokenId> tokens) {
  const IndexMatch match = index.lookup(space, tokens, limit(tokens), now());
  if (match.blocks.empty()) return {kNoBlock, 0};
  return {match.blocks.back(), std::ssize(match.blocks) * options.block_size};
}

}  // namespace quire
