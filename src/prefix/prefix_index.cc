// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <limits>
#include <string>
#include <unordered_map>
#include <utility>

#include "prefix/block_store.h"
#include "prefix/child_tree.h"
#include "prefix/rank_heap.h"

namespace quire {

// What left lately, and why: one slot a hash, later ones overwrite. Only explanations read it.
class Departed {
 public:
  void note(const BlockKey& key, MissReason reason) {
    slots_[key.low % slots_.size()] = {key, reason};
  }
  MissReason reason(const BlockKey& key) const {
    const Slot& slot = slots_[key.low % slots_.size()];
    return slot.key == key ? slot.reason : MissReason::kNone;
  }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    BlockKey key;
    MissReason reason = MissReason::kNone;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(4096);
};

struct PrefixIndex::Impl {
  explicit Impl(PrefixIndexOptions given)
      : options(std::move(given)), store(options.block_size), table(options.hash_bits) {
    if (options.block_size < 1 || options.block_size > UINT16_MAX) {
      throw Error(ErrorCode::kInvalidArgument, "block_size",
                  "expected 1…65535, found " + std::to_string(options.block_size));
    }
    if (!options.policy) options.policy = make_eviction_policy("lru");
  }

  struct LowHalf {  // of what is a hash already
    std::size_t operator()(const BlockKey& key) const noexcept { return key.low; }
  };

  PrefixIndexOptions options;
  BlockStore store;
  KeyTable table;
  // By their whole keys, however short the hashes of blocks are: no two namespaces share a root.
  std::unordered_map<BlockKey, BlockId, LowHalf> roots;
  RankHeap evictable;  // exactly the blocks with no child that nobody holds, roots apart
  Departed departed;
  std::uint64_t tick = 0;
  PrefixIndexStats stats;

  BlockUse use_of(const Block& block) const {
    return {tick, block.inserted, block.used, block.uses, block.depth};
  }

  void settle(BlockId id) {  // puts a block into the heap of evictable ones, or takes it out
    Block& block = store[id];
    const bool may_go = block.depth > 0 && block.child_count == 0 && block.holds == 0;
    const bool in_heap = block.heap_slot != RankHeap::kAbsent;
    if (may_go && !in_heap) evictable.push(store, id);
    if (!may_go && in_heap) evictable.erase(store, id);
  }

  void touch(BlockId id) {
    Block& block = store[id];
    ++block.uses;
    block.used = tick;
    block.rank = options.policy->rank(use_of(block));
    if (block.heap_slot != RankHeap::kAbsent) evictable.update(store, id);
  }

  BlockId find_root(const BlockKey& space) const {
    const auto root = roots.find(space);
    return root != roots.end() ? root->second : kNoBlock;
  }

  // REQUIRES: room in the store.
  BlockId find_or_make_root(const BlockKey& space) {
    const auto [root, is_new] = roots.try_emplace(space, kNoBlock);
    if (is_new) {
      root->second = store.allocate();
      store[root->second].key = space;
    }
    return root->second;
  }

  // The full block of these tokens after `parent`; counts a collision.
  BlockId find_full(BlockId parent, const BlockKey& key, std::span<const TokenId> tokens) {
    const BlockId id = table.find(store, key);
    if (id == kNoBlock) return kNoBlock;
    if (store[id].parent == parent && std::ranges::equal(store.tokens(id), tokens)) return id;
    ++stats.collisions;
    return kNoBlock;
  }

  void remove(BlockId id, MissReason why) {
    Block& block = store[id];
    const BlockId parent = block.parent;
    if (options.on_evict) options.on_evict({id, block.payload, why});
    if (why != MissReason::kNone) departed.note(block.key, why);
    if (block.heap_slot != RankHeap::kAbsent) evictable.erase(store, id);
    if (block.length == options.block_size) table.erase(store, id);
    store[parent].child_root = erase_child(store, store[parent].child_root, id);
    --store[parent].child_count;
    --stats.blocks;
    store.free(id);
    settle(parent);
    drop_root_if_empty(parent);
  }

  void drop_root_if_empty(BlockId id) {
    if (store[id].depth != 0 || store[id].child_count != 0 || store[id].holds != 0) return;
    roots.erase(store[id].key);
    store.free(id);
  }

  bool evict_one() {
    if (evictable.empty()) return false;
    const BlockId victim = evictable.top();
    options.policy->evicted(use_of(store[victim]), store[victim].rank);
    ++stats.evictions;
    remove(victim, MissReason::kEvicted);
    return true;
  }

  // Drops an expired block with all that follows it, as far as nobody holds them.
  void expire(BlockId id) {
    while (store[id].child_root != kNoBlock) {
      const BlockId child = store[id].child_root;
      const std::uint32_t before = store[id].child_count;
      expire(child);
      if (store[id].child_count == before) return;
    }
    if (store[id].holds != 0) return;
    ++stats.expirations;
    remove(id, MissReason::kExpired);
  }

  bool is_expired(BlockId id, std::int64_t now) const {
    return store[id].expires != 0 && store[id].expires <= now;
  }

  void match_partial(IndexMatch& match, BlockId last, std::span<const TokenId> rest,
                     std::int64_t limit, std::int64_t now);
  bool make_room(const Block& candidate);
};

// Extends a match into a block that begins with the next tokens, and says why not further.
void PrefixIndex::Impl::match_partial(IndexMatch& match, BlockId last,
                                      std::span<const TokenId> rest, std::int64_t limit,
                                      std::int64_t now) {
  const std::span<const TokenId> window =
      rest.first(std::min(rest.size(), static_cast<std::size_t>(options.block_size)));
  NearestChild near = nearest_child(store, store[last].child_root, window);
  while (near.block != kNoBlock && near.shared > 0 && is_expired(near.block, now)) {
    const std::int64_t blocks = stats.blocks;
    expire(near.block);
    if (match.reason == MissReason::kNone) match.reason = MissReason::kExpired;
    if (blocks == stats.blocks || (match.blocks.empty() && stats.blocks == 0)) return;
    near = nearest_child(store, store[last].child_root, window);
  }
  if (near.block == kNoBlock) {
    if (match.reason == MissReason::kNone) match.reason = MissReason::kEndOfStored;
    return;
  }
  const std::int64_t shared = std::min(near.shared, limit);
  if (shared > 0) {
    match.partial = near.block;
    match.partial_tokens = shared;
    match.tokens += shared;
    touch(near.block);
  }
  if (shared == limit) return;
  const auto at = static_cast<std::size_t>(near.shared);
  if (at < store[near.block].length) {
    if (match.reason == MissReason::kNone) match.reason = MissReason::kDiverged;
    match.had = store.tokens(near.block)[at];
    match.got = rest[at];
  } else if (match.reason == MissReason::kNone) {
    match.reason = MissReason::kEndOfStored;
  }
}

// Evicts until one more block fits, unless `candidate` itself would be the next to go.
bool PrefixIndex::Impl::make_room(const Block& candidate) {
  if (options.capacity_blocks == 0) return true;
  while (stats.blocks >= options.capacity_blocks) {
    if (evictable.empty() || evicted_before(candidate, store[evictable.top()])) {
      ++stats.rejections;
      return false;
    }
    evict_one();
  }
  return true;
}

PrefixIndex::PrefixIndex(PrefixIndexOptions options)
    : impl_(std::make_unique<Impl>(std::move(options))) {}
PrefixIndex::~PrefixIndex() = default;
PrefixIndex::PrefixIndex(PrefixIndex&&) noexcept = default;
PrefixIndex& PrefixIndex::operator=(PrefixIndex&&) noexcept = default;

IndexMatch PrefixIndex::lookup(const BlockKey& space, std::span<const TokenId> tokens,
                               std::int64_t max_tokens, std::int64_t now) {
  Impl& index = *impl_;
  ++index.tick;
  ++index.stats.lookups;
  IndexMatch match;
  const std::int64_t limit = std::min(max_tokens, static_cast<std::int64_t>(tokens.size()));
  if (limit <= 0) return match;

  const std::int64_t size = index.options.block_size;
  const BlockId root = index.find_root(space);
  BlockId last = root;
  BlockKey key = space;
  MissReason gone = MissReason::kNone;
  while (match.tokens + size <= limit) {
    const auto block =
        tokens.subspan(static_cast<std::size_t>(match.tokens), static_cast<std::size_t>(size));
    key = index.table.reduce(block_key(key, space, block));
    const BlockId id = last == kNoBlock ? kNoBlock : index.find_full(last, key, block);
    if (id != kNoBlock && index.is_expired(id, now)) {
      index.expire(id);
      gone = MissReason::kExpired;
      break;
    }
    if (id == kNoBlock) {
      gone = index.departed.reason(key);
      break;
    }
    index.touch(id);
    match.blocks.push_back(id);
    match.tokens += size;
    last = id;
  }
  if (match.tokens == limit) return match;

  match.reason = gone;
  // Expiry may have emptied the namespace, root included.
  const BlockId end = match.blocks.empty() ? index.find_root(space) : last;
  if (end != kNoBlock) {
    index.match_partial(match, end, tokens.subspan(static_cast<std::size_t>(match.tokens)),
                        limit - match.tokens, now);
  }
  if (match.tokens == 0 && gone == MissReason::kNone && match.reason != MissReason::kExpired) {
    match.reason = MissReason::kCold;
    match.had = match.got = -1;
  }
  return match;
}

std::optional<BlockId> PrefixIndex::insert(const BlockKey& space, BlockId parent,
                                           std::span<const TokenId> tokens,
                                           const InsertOptions& options) {
  Impl& index = *impl_;
  // What can fail for want of memory comes first, and so that letting go of blocks never can.
  index.store.make_room(2);
  index.table.make_room(index.store, 1);
  index.evictable.make_room(static_cast<std::size_t>(index.stats.blocks) + 1);
  const bool full = static_cast<std::int64_t>(tokens.size()) == index.options.block_size;
  const BlockId root = parent == kNoBlock ? index.find_or_make_root(space) : parent;

  // Held while we work, so that making room cannot take it.
  ++index.store[root].holds;
  index.settle(root);
  const auto done = [&](std::optional<BlockId> result) {
    --index.store[root].holds;
    index.settle(root);
    index.drop_root_if_empty(root);
    return result;
  };

  const BlockKey key = index.table.reduce(block_key(index.store[root].key, space, tokens));
  const BlockId known = full ? index.table.find(index.store, key)
                             : quire::find_child(index.store, index.store[root].child_root, tokens);
  if (known != kNoBlock) {
    if (full && index.find_full(root, key, tokens) == kNoBlock) return done(std::nullopt);
    if (index.store[known].used != index.tick) index.touch(known);
    std::int64_t& expires = index.store[known].expires;  // 0: never
    if (expires != 0) expires = options.expires == 0 ? 0 : std::max(expires, options.expires);
    return done(known);
  }

  Block block;
  block.key = key;
  block.payload = options.payload;
  block.inserted = block.used = index.tick;
  block.expires = options.expires;
  block.parent = root;
  block.depth = index.store[root].depth + 1;
  block.uses = 1;
  block.length = static_cast<std::uint16_t>(tokens.size());
  block.priority = static_cast<std::uint8_t>(std::clamp(options.priority, 0, 255));
  block.rank = index.options.policy->rank(index.use_of(block));
  if (!index.make_room(block)) return done(std::nullopt);

  const BlockId id = index.store.allocate();
  index.store[id] = block;
  std::ranges::copy(tokens, index.store.token_data(id));
  if (full) index.table.insert(index.store, id);
  index.store[root].child_root = insert_child(index.store, index.store[root].child_root, id);
  ++index.store[root].child_count;
  ++index.stats.blocks;
  ++index.stats.insertions;
  index.settle(id);
  return done(id);
}

void PrefixIndex::hold(BlockId block) {
  ++impl_->store[block].holds;
  impl_->settle(block);
}

void PrefixIndex::release(BlockId block) {
  --impl_->store[block].holds;
  impl_->settle(block);
}

bool PrefixIndex::evict_one() { return impl_->evict_one(); }

void PrefixIndex::clear() {
  while (!impl_->evictable.empty()) impl_->remove(impl_->evictable.top(), MissReason::kNone);
}

bool PrefixIndex::erase(BlockId block) {
  if (impl_->store[block].heap_slot == RankHeap::kAbsent) return false;
  impl_->remove(block, MissReason::kNone);
  return true;
}

void PrefixIndex::demote(BlockId block) {
  Impl& index = *impl_;
  for (bool only = true; only && index.store[block].depth > 0; block = index.store[block].parent) {
    Block& demoted = index.store[block];
    demoted.rank = -std::numeric_limits<double>::infinity();
    if (demoted.heap_slot != RankHeap::kAbsent) index.evictable.update(index.store, block);
    only = index.store[demoted.parent].child_count == 1;
  }
}

std::int64_t PrefixIndex::peek(const BlockKey& space, std::span<const TokenId> tokens,
                               std::int64_t max_tokens) const {
  const Impl& index = *impl_;
  const auto limit =
      static_cast<std::size_t>(std::clamp<std::int64_t>(max_tokens, 0, std::ssize(tokens)));
  const auto size = static_cast<std::size_t>(index.options.block_size);
  BlockId last = index.find_root(space);
  BlockKey key = space;
  std::size_t found = 0;
  while (last != kNoBlock && found + size <= limit) {
    const auto block = tokens.subspan(found, size);
    key = index.table.reduce(block_key(key, space, block));
    const BlockId next = index.table.find(index.store, key);
    if (next == kNoBlock || index.store[next].parent != last ||
        !std::ranges::equal(index.store.tokens(next), block)) {
      break;
    }
    last = next;
    found += size;
  }
  if (last == kNoBlock) return 0;
  const auto rest = tokens.subspan(found, std::min(size, limit - found));
  const NearestChild near = nearest_child(index.store, index.store[last].child_root, rest);
  return static_cast<std::int64_t>(found) + near.shared;
}

std::span<const TokenId> PrefixIndex::tokens(BlockId block) const {
  return std::as_const(impl_->store).tokens(block);
}

std::uint64_t PrefixIndex::payload(BlockId block) const { return impl_->store[block].payload; }

const BlockKey& PrefixIndex::key(BlockId block) const { return impl_->store[block].key; }

BlockId PrefixIndex::parent(BlockId block) const {
  const BlockId parent = impl_->store[block].parent;
  return impl_->store[parent].depth == 0 ? kNoBlock : parent;
}

PrefixIndexStats PrefixIndex::stats() const {
  PrefixIndexStats stats = impl_->stats;
  constexpr std::size_t kRootBytes = sizeof(decltype(Impl::roots)::value_type) + sizeof(void*);
  stats.bytes = impl_->store.bytes() + impl_->table.bytes() + impl_->evictable.bytes() +
                impl_->departed.bytes() + impl_->roots.bucket_count() * sizeof(void*) +
                impl_->roots.size() * kRootBytes;
  return stats;
}

}  // namespace quire
