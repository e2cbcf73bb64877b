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

#include "io/home_owned.h"
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

  // A namespace that some match or block is in; forgotten with the last of them.
  struct Space {
    BlockKey digest;
    NameSpace fields;
    std::int64_t users = 0;  // matches and blocks
  };
  // Finds or makes the match's namespace. It has none if nothing is kept, or if another one has
  // its digest: a digest is no proof.
  void enter(PrefixMatch::Impl& match, const PrefixModel& model, const PrefixScope& scope);
  void leave(Space& space) noexcept;
  // The digest of a namespace, if it is known.
  std::optional<BlockKey> known_space(const PrefixModel& model, const PrefixScope& scope) const;

  // Fills a new match. `whole`: up to all tokens where the logits after them are kept.
  void find(PrefixMatch::Impl& match, const PrefixModel& model, std::span<const TokenId> tokens,
            const PrefixScope& scope, bool whole);

  // Says what the match came to, once all tiers have been asked.
  void account(PrefixMatch::Impl& match, std::span<const TokenId> tokens);

  // Adds a block after `parent`, or finds it there; what its pages lack, `pages` may have.
  // Nothing if there is no room. REQUIRES: a match is in this namespace.
  std::optional<BlockId> keep(const BlockKey& space, BlockId parent,
                              std::span<const TokenId> tokens, BlockPages pages,
                              std::chrono::milliseconds ttl);

  // Sends the tiers what they lack of a text: of the match's chain, of `open` after it, and `more`
  // blocks that memory does not keep.
  void offer(const PrefixMatch::Impl& match, std::span<const TokenId> tokens,
             std::optional<BlockId> open, std::vector<BlockPages> more);

  // The longest chain of full blocks whose time is not over by `now`, as the block at its end.
  std::pair<BlockId, std::int64_t> chain(const BlockKey& space, std::span<const TokenId> tokens,
                                         std::int64_t now);

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
  PrefixCacheStats stats;  // collisions and index_bytes: only the namespaces' own
  std::map<BlockId, int> pins;

 private:
  // A block's pages and namespace, and the tiers (one bit each) that have it or are about to.
  struct Kept {
    BlockPages pages;
    Space* space = nullptr;
    std::uint32_t tiers = 0;
  };

  PrefixIndexOptions index_options();
  void start_tiers();
  void adopt(PrefixMatch::Impl& match, std::span<const TokenId> tokens, std::size_t tier,
             Arrivals& arrivals);
  void promote(PrefixMatch::Impl& match, std::size_t tier, Arrivals& arrivals, std::size_t count);
  void written(const TierJob& job, std::size_t tier, std::int64_t stored);

  std::uint64_t free_payload();
  std::int64_t expiry(std::chrono::milliseconds ttl) const;
  void forget(const EvictedBlock& block) noexcept;
  void tell(PrefixEvent::Kind kind, BlockId block) noexcept;
  void explain(PrefixMatch::Impl& match, std::span<const TokenId> tokens);
  std::shared_ptr<PagePool> pool_for(const KvSpec& spec);

  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, Space> spaces_;  // by digest
  std::vector<std::shared_ptr<PagePool>> pools_;                     // one for each shape of caches
  std::vector<Kept> kept_;                                           // by payload
  std::vector<std::uint64_t> free_payloads_;
  std::vector<PrefixEvent> events_;

 public:
  std::vector<HomeOwned<TierQueue>> queues;  // the last member: they call back until gone
};

struct PrefixMatch::Impl {
  std::shared_ptr<PrefixCache::Impl> cache;
  BlockKey space;
  PrefixCache::Impl::Space* home = nullptr;  // held; null: nothing of this text is kept
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
