// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/miss_reason.h>
#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace quire {

// A 128-bit XXH3 hash: of a block with all that precedes it, or of a namespace.
struct BlockKey {
  std::uint64_t low = 0;
  std::uint64_t high = 0;

  bool operator==(const BlockKey&) const = default;
};

// The key of a block of tokens that follows `parent` in `space` (the first block's parent is the
// space itself). Equal keys mean equal text up to the end of the block, but for hash collisions.
QUIRE_EXPORT BlockKey block_key(const BlockKey& parent, const BlockKey& space,
                                std::span<const TokenId> tokens);

// What an eviction policy knows of a block. Ticks count requests.
struct BlockUse {
  std::uint64_t tick;      // now
  std::uint64_t inserted;  // tick of insertion
  std::uint64_t used;      // tick of the latest use; at an eviction, of the last one
  std::uint32_t uses;      // requests that used it, the inserting one included
  std::uint32_t depth;     // blocks before it, itself included
};

// Ranks blocks for eviction: the lowest rank goes first, then the least recently used, then the
// deepest, then the oldest. Only leaves that nobody holds are ever candidates, so a chain goes tail
// first.
class QUIRE_EXPORT EvictionPolicy {
 public:
  virtual ~EvictionPolicy();
  virtual std::string_view name() const = 0;
  virtual double rank(const BlockUse& use) = 0;  // called when a block is inserted or used
  virtual void evicted(const BlockUse& use, double rank);
};

// "lru" (the default), "fifo", "lfu" (aged: ranks grow with a clock), "slru" (blocks used twice
// outlive those used once), "cost" (aged LFU weighted by depth: deep blocks cost more attention to
// compute again). Throws Error kInvalidArgument for another name.
QUIRE_EXPORT std::unique_ptr<EvictionPolicy> make_eviction_policy(std::string_view name);

using BlockId = std::uint32_t;
inline constexpr BlockId kNoBlock = UINT32_MAX;

struct IndexMatch {
  std::vector<BlockId> blocks;  // the chain of full blocks that match
  BlockId partial = kNoBlock;   // a further block that begins with the next tokens
  std::int64_t partial_tokens = 0;
  std::int64_t tokens = 0;  // all that match: blocks.size() * block_size + partial_tokens
  MissReason reason = MissReason::kNone;
  TokenId had = -1;  // kDiverged: the known text's token at `tokens`
  TokenId got = -1;  // and the asked one
};

struct EvictedBlock {
  BlockId block;
  std::uint64_t payload;
  MissReason reason;  // kEvicted or kExpired; kNone: erased by the owner
};

struct PrefixIndexOptions {
  std::int64_t block_size = 32;
  std::int64_t capacity_blocks = 0;                  // 0: unbounded
  std::unique_ptr<EvictionPolicy> policy = nullptr;  // none: LRU
  int hash_bits = 128;                               // fewer: to provoke collisions in tests
  // Told of every block that leaves, before its id is used again.
  std::function<void(const EvictedBlock&)> on_evict = {};
};

struct InsertOptions {
  std::uint64_t payload = 0;  // the owner's, a page number for instance
  int priority = 0;           // higher ones are evicted after all lower ones; 0…255
  std::int64_t expires = 0;   // on the owner's clock; 0: never
};

struct PrefixIndexStats {
  std::int64_t blocks = 0;
  std::int64_t lookups = 0;
  std::int64_t insertions = 0;
  std::int64_t evictions = 0;
  std::int64_t expirations = 0;
  std::int64_t rejections = 0;  // no room: everything else is held or ranks higher
  std::int64_t collisions = 0;  // equal keys, different text: a miss
  std::size_t bytes = 0;        // memory of the index itself, token ids included
};

// Finds the longest known prefix of a token sequence, and decides what to forget. Blocks form
// chains; a block is found by its key and believed only when its parent and token ids are equal
// too. Spaces are told apart by all of their keys' bits, whatever hash_bits says. Holds token ids
// and integers, no tensors: what a block stands for is its owner's payload.
//
// Costs: O(1) a full block looked up; O(log n) the partial one, an insertion, an eviction.
// Thread-safety: none; PrefixCache adds a lock.
class QUIRE_EXPORT PrefixIndex {
 public:
  explicit PrefixIndex(PrefixIndexOptions options);
  ~PrefixIndex();
  PrefixIndex(PrefixIndex&&) noexcept;
  PrefixIndex& operator=(PrefixIndex&&) noexcept;

  // The longest common prefix of `tokens` (at most max_tokens of them) with any chain in `space`.
  // Counts as one request: starts a new tick and marks what it found as used. Blocks whose time
  // to live ended by `now` are dropped on the way.
  IndexMatch lookup(const BlockKey& space, std::span<const TokenId> tokens, std::int64_t max_tokens,
                    std::int64_t now = 0);

  // Adds a block after `parent` (kNoBlock: at the start of the space); up to block_size tokens,
  // fewer make a leaf that only partial matches find. An equal block that exists is marked used
  // and returned, its payload untouched: compare with payload(); it lives at least until
  // options.expires from then on, even if its time was over. Evicts for room first; returns
  // nothing if there is none (or on a collision). REQUIRES: 1 <= tokens.size() <= block_size;
  // parent is a full block.
  std::optional<BlockId> insert(const BlockKey& space, BlockId parent,
                                std::span<const TokenId> tokens, const InsertOptions& options = {});

  // A block that is held is never evicted, nor are those before it. Counted.
  void hold(BlockId block);
  void release(BlockId block);

  // Evicts the lowest block that may go; false if there is none.
  bool evict_one();

  // Drops every block that nobody holds.
  void clear();

  // Drops one block; false if somebody holds it or a block follows it.
  bool erase(BlockId block);

  // This block, and those before it as far as nothing else follows them, go before all others of
  // their priority, unless they are used again.
  void demote(BlockId block);

  // How many tokens a lookup would find, without being one.
  std::int64_t peek(const BlockKey& space, std::span<const TokenId> tokens,
                    std::int64_t max_tokens) const;

  std::span<const TokenId> tokens(BlockId block) const;
  std::uint64_t payload(BlockId block) const;
  const BlockKey& key(BlockId block) const;
  BlockId parent(BlockId block) const;  // kNoBlock at the start
  PrefixIndexStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
