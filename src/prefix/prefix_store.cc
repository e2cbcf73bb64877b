// SPDX-License-Identifier: Apache-2.0
#include "prefix/prefix_store.h"

#include <quire/error.h>

#include <algorithm>
#include <new>
#include <string>
#include <system_error>

#include "io/make_room.h"
#include "io/saturate.h"

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
  try {
    start_tiers();
  } catch (const std::system_error& error) {
    throw Error(ErrorCode::kOutOfMemory, "PrefixCache",
                std::string("cannot start a thread for a tier: ") + error.what());
  }
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
  for (const PrefixEvent& event : events) {
    try {
      impl_.options.on_event(event);
    } catch (...) {
      // The application's own; a destructor cannot pass it on.
    }
  }
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

std::int64_t PrefixCache::Impl::expiry(std::chrono::milliseconds ttl) const {
  return ttl.count() == 0 ? 0 : saturating_sum(now(), ttl.count());
}

// Pools stay: there are only as many as models differ in shape.
std::shared_ptr<PagePool> PrefixCache::Impl::pool_for(const KvSpec& spec) {
  for (const auto& pool : pools_) {
    if (pool->spec() == spec) return pool;
  }
  return pools_.emplace_back(
      std::make_shared<PagePool>(spec, PagePoolOptions{.block_size = options.block_size}));
}

void PrefixCache::Impl::enter(PrefixMatch::Impl& match, const PrefixModel& model,
                              const PrefixScope& scope) {
  NameSpace fields = make_name_space(model, options.block_size, scope);
  match.space = fields.digest();
  match.pool = pool_for(model.kv);
  if (options.bytes == 0) return;
  const auto [entry, is_new] = spaces_.try_emplace(std::pair(match.space.low, match.space.high));
  Space& space = entry->second;
  if (is_new) {
    space.digest = match.space;
    space.fields = std::move(fields);
    stats.index_bytes += space.fields.bytes();
  } else if (space.fields != fields) {
    ++stats.collisions;
    return;
  }
  ++space.users;
  match.home = &space;
}

void PrefixCache::Impl::leave(Space& space) noexcept {
  if (--space.users > 0) return;
  logits.forget(space.digest);
  stats.index_bytes -= space.fields.bytes();
  spaces_.erase(std::pair(space.digest.low, space.digest.high));
}

std::optional<BlockKey> PrefixCache::Impl::known_space(const PrefixModel& model,
                                                       const PrefixScope& scope) const {
  const NameSpace fields = make_name_space(model, options.block_size, scope);
  const BlockKey digest = fields.digest();
  const auto entry = spaces_.find(std::pair(digest.low, digest.high));
  if (entry == spaces_.end() || entry->second.fields != fields) return std::nullopt;
  return digest;
}

void PrefixCache::Impl::tell(PrefixEvent::Kind kind, BlockId block) noexcept {
  if (!options.on_event) return;
  try {
    events_.push_back({kind, index.key(block), std::ssize(index.tokens(block))});
  } catch (const std::bad_alloc&) {
    // An event is not worth a failure.
  }
}

// Called in the middle of other work, which must not fail for it.
void PrefixCache::Impl::forget(const EvictedBlock& block) noexcept {
  const bool expired = block.reason == MissReason::kExpired;
  if (block.reason != MissReason::kNone) {
    tell(expired ? PrefixEvent::Kind::kExpired : PrefixEvent::Kind::kEvicted, block.block);
    ++(expired ? stats.expired_blocks : stats.evicted_blocks);
  }
  Kept& kept = kept_[block.payload];
  Space& space = *kept.space;
  stats.bytes -= SharedBlocks::bytes(kept.pages);
  kept = {};
  free_payloads_.push_back(block.payload);
  leave(space);
}

void PrefixCache::Impl::find(PrefixMatch::Impl& match, const PrefixModel& model,
                             std::span<const TokenId> tokens, const PrefixScope& scope,
                             bool whole) {
  enter(match, model, scope);
  match.asked = std::ssize(tokens);
  ++stats.lookups;
  stats.asked_tokens += match.asked;
  if (match.home == nullptr) {
    if (options.bytes > 0) match.why = {.reason = MissReason::kCold, .at = 0};
    return;
  }
  if (whole) match.logits = logits.find(match.space, tokens);
  match.most = std::min(limit(tokens), match.asked - (match.logits ? 0 : 1));

  IndexMatch found = index.lookup(match.space, tokens, match.most, now());
  match.why = {.reason = found.reason};
  if (found.reason != MissReason::kNone) match.why.at = found.tokens;
  if (found.reason == MissReason::kDiverged) {
    match.why.had = found.had;
    match.why.got = found.got;
  }

  // Windowed layers may have lost pages that the next token needs: then stop earlier.
  std::vector<const BlockPages*> blocks;
  for (const BlockId id : found.blocks) blocks.push_back(&kept_[index.payload(id)].pages);
  std::int64_t usable = found.tokens;
  if (found.partial != kNoBlock) {
    blocks.push_back(&kept_[index.payload(found.partial)].pages);
  }
  while (!SharedBlocks::usable(*match.pool, blocks, usable)) {
    blocks.pop_back();
    usable = std::ssize(blocks) * options.block_size;
    match.why = {.reason = MissReason::kEvicted, .at = usable};
  }
  for (const BlockPages* pages : blocks) match.pages.push_back(*pages);
  match.reused.memory = usable / options.block_size * options.block_size;
  match.reused.copied = usable % options.block_size;

  match.stored = match.reused.memory / options.block_size;
  if (match.stored > 0) {
    match.tail = found.blocks[static_cast<std::size_t>(match.stored - 1)];
    index.hold(match.tail);
  }
  if (match.reused.copied > 0) {
    match.partial = found.partial;
    index.hold(match.partial);
  }
}

void PrefixCache::Impl::account(PrefixMatch::Impl& match, std::span<const TokenId> tokens) {
  if (match.reused.total() < match.asked) match.logits.reset();
  if (match.logits) ++stats.whole_prompts;
  stats.memory_tokens += match.reused.memory;
  stats.copied_tokens += match.reused.copied;
  stats.disk_tokens += match.reused.disk;
  stats.remote_tokens += match.reused.remote;
  explain(match, tokens);
}

// Looks whether another namespace knows more of the text, if that may be told.
void PrefixCache::Impl::explain(PrefixMatch::Impl& match, std::span<const TokenId> tokens) {
  if (!options.explain_across_namespaces || match.home == nullptr) return;
  if (match.why.reason == MissReason::kNone) return;
  std::int64_t most = match.reused.total();
  for (const auto& [digest, other] : spaces_) {
    if (&other == match.home) continue;
    const std::int64_t there = index.peek(other.digest, tokens, std::ssize(tokens) - 1);
    if (there <= most) continue;
    most = there;
    match.why = {.reason = MissReason::kOtherNamespace,
                 .at = match.reused.total(),
                 .field = std::string(match.home->fields.difference(other.fields))};
  }
}

std::uint64_t PrefixCache::Impl::free_payload() {
  if (free_payloads_.empty()) {
    make_room(kept_, kept_.size() + 1);
    free_payloads_.reserve(kept_.capacity());  // so that forget() always can
    free_payloads_.push_back(kept_.size());
    kept_.emplace_back();
  }
  return free_payloads_.back();
}

std::optional<BlockId> PrefixCache::Impl::keep(const BlockKey& space, BlockId parent,
                                               std::span<const TokenId> tokens, BlockPages pages,
                                               std::chrono::milliseconds ttl) {
  // What can fail for want of memory comes before the index knows of the block.
  const std::uint64_t payload = free_payload();
  kept_[payload].pages.resize(pages.size());
  const auto id = index.insert(space, parent, tokens, {.payload = payload, .expires = expiry(ttl)});
  if (!id) return std::nullopt;
  const bool is_new = index.payload(*id) == payload;
  if (is_new) {
    free_payloads_.pop_back();
    kept_[payload].space = &spaces_.at({space.low, space.high});
    ++kept_[payload].space->users;
  }

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
    tell(PrefixEvent::Kind::kRejected, *id);
    index.erase(*id);
    return std::nullopt;
  }
  if (is_new) {
    ++stats.stored_blocks;
    tell(PrefixEvent::Kind::kStored, *id);
  }
  return id;
}

std::pair<BlockId, std::int64_t> PrefixCache::Impl::chain(const BlockKey& space,
                                                          std::span<const TokenId> tokens,
                                                          std::int64_t now) {
  const IndexMatch match = index.lookup(space, tokens, limit(tokens), now);
  if (match.blocks.empty()) return {kNoBlock, 0};
  return {match.blocks.back(), std::ssize(match.blocks) * options.block_size};
}

}  // namespace quire
