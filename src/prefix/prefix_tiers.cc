// SPDX-License-Identifier: Apache-2.0
// What PrefixCache does with the tiers behind its memory.
#include <quire/page_tier.h>

#include <algorithm>
#include <exception>
#include <string_view>
#include <utility>

#include "prefix/arrivals.h"
#include "prefix/prefix_store.h"
#include "prefix/tier_bytes.h"

namespace quire {

BlockReader::~BlockReader() = default;
PageTier::~PageTier() = default;

std::vector<std::span<std::byte>> Arrivals::place(std::span<const TokenId> tokens,
                                                  std::span<const std::int64_t> bytes,
                                                  std::chrono::milliseconds ttl) {
  const std::int64_t at = next_ * text_.block_size;
  if (std::ssize(tokens) > text_.block_size) ended_ = true;  // no block: it is not there
  if (ended_ || at >= std::ssize(text_.tokens)) return {};
  const auto rest = text_.tokens.subspan(static_cast<std::size_t>(at));
  const std::int64_t shared = common_prefix(tokens, rest);
  ended_ = shared < text_.block_size;
  if (shared < std::min(std::ssize(tokens), std::ssize(rest))) {
    had = tokens[static_cast<std::size_t>(shared)];
  }
  if (shared == 0) return {};
  std::optional<SharedBlocks::NewPages> pages = SharedBlocks::allocate(pool_, bytes);
  if (!pages) {
    ended_ = true;
    had.reset();
    return {};
  }
  pages_ = std::move(*pages);
  block_ = {TokenIds(tokens.begin(), tokens.end()), shared, {}, ttl};
  return pages_.places;
}

void Arrivals::placed() {
  if (block_.tokens.empty()) return;  // none was placed since
  pages_.arrive();
  block_.pages = std::move(pages_.pages);
  blocks.push_back(std::move(block_));
  ++next_;
}

namespace {

std::string_view name_of(PageTier::Kind kind) {
  return kind == PageTier::Kind::kDisk ? "disk" : "remote";
}

}  // namespace

void PrefixCache::Impl::start_tiers() {
  std::vector<std::shared_ptr<PageTier>> tiers;
  if (!options.disk_path.empty()) {
    tiers.push_back(make_disk_tier(options.disk_path, {.bytes = options.disk_bytes}));
  }
  if (!options.redis_url.empty()) {
    tiers.push_back(make_redis_tier(options.redis_url, {.timeout = options.redis_timeout}));
  }
  tiers.insert(tiers.end(), options.tiers.begin(), options.tiers.end());
  for (std::size_t t = 0; t < tiers.size(); ++t) {
    const auto done = [this, t](const TierJob& job, std::int64_t stored) {
      written(job, t, stored);
    };
    queues.push_back(HomeOwned<TierQueue>(new TierQueue(tiers[t], options.queue_bytes, done)));
  }
}

void PrefixCache::Impl::flush() {
  for (const auto& queue : queues) queue->flush();
}

void PrefixCache::Impl::search_tiers(PrefixMatch::Impl& match, std::span<const TokenId> tokens) {
  if (options.bytes == 0) return;
  const TierText text{
      match.space, options.block_size,
      tokens.first(static_cast<std::size_t>(std::max<std::int64_t>(match.most, 0)))};
  for (std::size_t t = 0; t < queues.size() && queues[t]->is_here(); ++t) {
    if (match.reused.total() >= std::ssize(text.tokens)) return;
    const std::int64_t whole = match.reused.total() / options.block_size;
    Arrivals arrivals(*match.pool, text, whole);
    try {
      queues[t]->tier().load(text, whole, arrivals);
    } catch (const std::exception&) {
      // One of the application's that breaks its promise: what arrived is sound.
    }
    if (arrivals.blocks.empty()) continue;
    const Access access(*this);
    adopt(match, tokens, t, arrivals);
  }
}

// Makes what arrived part of the match, if that is more than it has.
void PrefixCache::Impl::adopt(PrefixMatch::Impl& match, std::span<const TokenId> tokens,
                              std::size_t tier, Arrivals& arrivals) {
  const std::int64_t before = match.reused.total();
  const auto whole = static_cast<std::size_t>(before / options.block_size);
  std::vector<const BlockPages*> blocks;
  for (std::size_t i = 0; i < whole; ++i) blocks.push_back(&match.pages[i]);
  for (const Arrivals::Block& block : arrivals.blocks) blocks.push_back(&block.pages);
  std::int64_t total = std::ssize(blocks) * options.block_size;
  total += arrivals.blocks.back().shared - options.block_size;
  WhyNotMore why{.reason = MissReason::kEndOfStored, .at = total};
  if (total == match.most) {
    why = {.reason = MissReason::kNone};
  } else if (arrivals.had) {
    why = {.reason = MissReason::kDiverged,
           .at = total,
           .had = arrivals.had,
           .got = tokens[static_cast<std::size_t>(total)]};
  }
  while (!SharedBlocks::usable(*match.pool, blocks, total)) {
    blocks.pop_back();
    total = std::ssize(blocks) * options.block_size;
    why = {.reason = MissReason::kEvicted, .at = total};
  }
  if (total <= before) return;

  const std::size_t count = blocks.size() - whole;
  match.pages.resize(whole);
  for (std::size_t i = 0; i < count; ++i) match.pages.push_back(arrivals.blocks[i].pages);
  // The part of a page that was found before comes from here too. It is all that any source has
  // besides whole blocks.
  for (std::int64_t* source : {&match.reused.copied, &match.reused.disk, &match.reused.remote}) {
    *source -= *source % options.block_size;
  }
  (queues[tier]->tier().kind() == PageTier::Kind::kDisk ? match.reused.disk
                                                        : match.reused.remote) +=
      total - static_cast<std::int64_t>(whole) * options.block_size;
  match.why = std::move(why);
  promote(match, tier, arrivals, count);
}

// Takes what arrived into memory, as far as there is room.
void PrefixCache::Impl::promote(PrefixMatch::Impl& match, std::size_t tier, Arrivals& arrivals,
                                std::size_t count) {
  if (match.partial != kNoBlock) index.release(match.partial);
  match.partial = kNoBlock;
  if (match.stored != std::ssize(match.pages) - static_cast<std::int64_t>(count)) return;
  for (std::size_t i = 0; i < count; ++i) {
    Arrivals::Block& block = arrivals.blocks[i];
    const auto ttl = block.ttl.count() > 0 ? block.ttl : options.ttl;
    const auto kept = keep(match.space, match.tail, block.tokens, std::move(block.pages), ttl);
    if (!kept) return;
    kept_[index.payload(*kept)].tiers |= 1u << tier;
    if (options.on_event) {
      events_.push_back({PrefixEvent::Kind::kLoaded, index.key(*kept), std::ssize(block.tokens),
                         name_of(queues[tier]->tier().kind())});
    }
    index.hold(*kept);
    if (block.shared < options.block_size) {
      match.partial = *kept;
      return;
    }
    if (match.tail != kNoBlock) index.release(match.tail);
    match.tail = *kept;
    ++match.stored;
  }
}

void PrefixCache::Impl::offer(const PrefixMatch::Impl& match, std::span<const TokenId> tokens,
                              std::optional<BlockId> open, std::vector<BlockPages> more) {
  const std::int64_t blocks = match.stored + (open ? 1 : 0);
  for (std::size_t t = 0; t < queues.size(); ++t) {
    const std::uint32_t bit = 1u << t;
    std::vector<BlockId> absent;
    for (BlockId id = open.value_or(match.tail);
         id != kNoBlock && (kept_[index.payload(id)].tiers & bit) == 0; id = index.parent(id)) {
      absent.push_back(id);
    }
    if (absent.empty() && more.empty()) continue;
    TierJob job{match.space, options.block_size, {}, blocks - std::ssize(absent), {}, options.ttl};
    job.tokens.assign(tokens.begin(), tokens.end());
    for (auto id = absent.rbegin(); id != absent.rend(); ++id) {
      job.blocks.push_back(kept_[index.payload(*id)].pages);
    }
    job.blocks.insert(job.blocks.end(), more.begin(), more.end());
    const std::int64_t offered = std::ssize(job.blocks);
    if (!queues[t]->push(std::move(job))) {
      stats.dropped_blocks += offered;
      continue;
    }
    for (const BlockId id : absent) kept_[index.payload(id)].tiers |= bit;
  }
}

// Called when a tier has done with a job. What it could not keep is offered again when its text is
// used again, with all before it, which the tier may have lost.
void PrefixCache::Impl::written(const TierJob& job, std::size_t tier, std::int64_t stored) {
  const Access access(*this);
  const TierText text = job.text();
  if (options.on_event && stored > 0) {
    BlockKey key = text.space;
    for (std::int64_t i = 0; i < job.first + stored; ++i) {
      const std::span<const TokenId> tokens = block_of(text, i);
      key = block_key(key, text.space, tokens);
      if (i < job.first) continue;
      events_.push_back({PrefixEvent::Kind::kStored, key, std::ssize(tokens),
                         name_of(queues[tier]->tier().kind())});
    }
  }
  if (stored == std::ssize(job.blocks)) return;
  const IndexMatch known = index.lookup(text.space, text.tokens, std::ssize(text.tokens), now());
  for (const BlockId id : known.blocks) kept_[index.payload(id)].tiers &= ~(1u << tier);
  if (known.partial != kNoBlock) kept_[index.payload(known.partial)].tiers &= ~(1u << tier);
}

}  // namespace quire
