// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_pool.h>
#include <quire/prefix_cache.h>
#include <quire/prefix_index.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "kv/shared_blocks.h"
#include "prefix/last_logits.h"
#include "prefix/name_space.h"
#include "prefix/tier_queue.h"

namespace quire {

class Arrivals;

// What PrefixCache is made of: the index, and for each of its blocks the pages. One mutex guards
// it all; events are collected under it and delivered after it.
class PrefixCache::Impl {
 public:
  explicit Impl(PrefixCacheOptions given);

  // Holds the mutex, and delivers the events when it has been given back.
  class Access {
   public:
    explicit Access(Impl& impl) : impl_(impl), lock_(impl.mutex_) {}
    ~Access();
    Access(const Access&) = delete;
    Access& operator=(const Access&) = delete;

   private:
    Impl& impl_;
    std::unique_lock<std::mutex> lock_;
  };

  // All of these: REQUIRES an Access.
  struct Space {
    NameSpace fields;
    std::shared_ptr<PagePool> pool;
  };
  // The digest of a namespace, which is known from then on.
  BlockKey space_of(const PrefixModel& model, const PrefixScope& scope);
  const Space& space(const BlockKey& digest) const { return spaces_.at({digest.low, digest.high}); }

  // `whole`: up to all tokens where the logits after them are kept.
  std::unique_ptr<PrefixMatch::Impl> find(const PrefixModel& model, std::span<const TokenId> tokens,
                                          const PrefixScope& scope, bool whole);

  // Says what the match came to, once all tiers have been asked.
  void account(PrefixMatch::Impl& match, std::span<const TokenId> tokens);

  // Adds a block after `parent`, or finds it there; what its pages lack, `pages` may have.
  // Nothing if there is no room.
  std::optional<BlockId> keep(const BlockKey& space, BlockId parent,
                              std::span<const TokenId> tokens, BlockPages pages,
                              std::chrono::milliseconds ttl);

  // Sends the tiers what they lack of a text: of the match's chain, of `open` after it, and `more`
  // blocks that memory does not keep.
  void offer(const PrefixMatch::Impl& match, std::span<const TokenId> tokens,
             std::optional<BlockId> open, std::vector<BlockPages> more);

  // The longest chain of full blocks, as the block at its end.
  std::pair<BlockId, std::int64_t> chain(const BlockKey& space, std::span<const TokenId> tokens);

  std::int64_t now() const;
  std::int64_t limit(std::span<const TokenId> tokens) const;

  // These: REQUIRE no Access.
  // A whole lookup: memory, then the tiers.
  static PrefixMatch search(const std::shared_ptr<Impl>& self, const PrefixModel& model,
                            std::span<const TokenId> tokens, const PrefixScope& scope, bool whole);
  // Looks for more of the text in the tiers, and takes what there is into memory.
  void search_tiers(PrefixMatch::Impl& match, std::span<const TokenId> tokens);
  void flush();

  PrefixCacheOptions options;
  PrefixIndex index;
  LastLogits logits;
  PrefixCacheStats stats;
  std::map<BlockId, int> pins;

 private:
  // A block's pages, and the tiers (one bit each) that have it or are about to.
  struct Kept {
    BlockPages pages;
    std::uint32_t tiers = 0;
  };

  PrefixIndexOptions index_options();
  void start_tiers();
  void adopt(PrefixMatch::Impl& match, std::span<const TokenId> tokens, std::size_t tier,
             Arrivals& arrivals);
  void promote(PrefixMatch::Impl& match, std::size_t tier, Arrivals& arrivals, std::size_t count);
  void written(const TierJob& job, std::size_t tier, std::int64_t stored);

  void forget(const EvictedBlock& block);
  void explain(PrefixMatch::Impl& match, const BlockKey& own, std::span<const TokenId> tokens);
  std::shared_ptr<PagePool> pool_for(const KvSpec& spec);

  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Space> spaces_;
  std::vector<Kept> kept_;  // by payload
  std::vector<std::uint64_t> free_payloads_;
  std::vector<PrefixEvent> events_;

 public:
  std::vector<std::unique_ptr<TierQueue>> queues;  // the last member: they call back until gone
};

struct PrefixMatch::Impl {
  std::shared_ptr<PrefixCache::Impl> cache;
  BlockKey space;
  std::shared_ptr<PagePool> pool;
  std::vector<BlockPages> pages;  // of the reused tokens, in order
  std::int64_t asked = 0;
  std::int64_t most = 0;   // that may be reused
  LastLogits::Row logits;  // after all of them; null where they are not known
  Reused reused;
  WhyNotMore why;

  BlockId tail = kNoBlock;     // held: the last full block that is stored
  std::int64_t stored = 0;     // full blocks up to it
  BlockId partial = kNoBlock;  // held: the open block that the text may fill up
  bool full = false;           // the cache has no room for more of this text
};

}  // namespace quire
