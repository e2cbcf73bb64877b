// SPDX-License-Identifier: Apache-2.0
#include "prefix/redis_tier.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "io/saturate.h"
#include "prefix/redis_value.h"
#include "prefix/tier_bytes.h"

namespace quire {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto word = RedisConnection::word;

constexpr std::size_t kAhead = 16;                  // loads under way at once
constexpr std::size_t kStoreBytes = 8 << 20;        // sent at once, about
constexpr std::string_view kLastDropped = "-4096";  // rank in a set of followers, from its end
constexpr auto kStoreTimeout = std::chrono::seconds(5);
constexpr std::size_t kLoads = 0;  // the lines
constexpr std::size_t kStores = 1;
constexpr int kStoreReplies = 5;  // to a block that is stored; the first says whether it is there

// A key's time to live, 0: for ever.
void append_expiry(RedisConnection& redis, const std::string& name, std::int64_t expires) {
  if (expires == 0) {
    redis.append({word("PERSIST"), word(name)});
  } else {
    redis.append({word("PEXPIREAT"), word(name), word(std::to_string(expires))});
  }
}

// A block about to be stored.
struct Wanted {
  BlockKey before;
  BlockKey key;
  std::string name;
  std::span<const TokenId> tokens;  // its own
  std::span<const TokenId> text;    // up to its end
  std::size_t bytes;
  bool there = false;
};

// Those of the blocks that are stored at once, and whether they are there: as many bytes or more.
std::vector<Wanted> ask_for(RedisConnection& redis, const TierText& text, std::int64_t first,
                            std::span<const BlockBytes> blocks,
                            RedisConnection::Deadline deadline) {
  std::vector<Wanted> wanted;
  std::size_t bytes = 0;
  BlockKey key = text.space;
  for (std::int64_t i = 0; i < first + std::ssize(blocks) && bytes < kStoreBytes; ++i) {
    const BlockKey before = key;
    const std::span<const TokenId> tokens = block_of(text, i);
    key = block_key(before, text.space, tokens);
    if (i < first) continue;
    const auto end = static_cast<std::size_t>(i * text.block_size + std::ssize(tokens));
    const std::size_t size = redis_value_size(end, blocks[static_cast<std::size_t>(i - first)]);
    wanted.push_back({before, key, redis_name(key), tokens, text.tokens.first(end), size});
    bytes += size;
    redis.append({word("STRLEN"), word(wanted.back().name)});
  }
  for (Wanted& block : wanted) {
    const RedisReply reply = redis.next(deadline);
    block.there = reply.kind == RedisReply::Kind::kInteger &&
                  reply.integer >= static_cast<std::int64_t>(block.bytes);
  }
  return wanted;
}

void append_store(RedisConnection& redis, const Wanted& block, const BlockBytes& pages,
                  std::int64_t expires) {
  if (block.there) {
    redis.append({word("SETRANGE"), word(block.name), word(kRedisExpiryAt),
                  std::as_bytes(std::span(&expires, 1))});
  } else {
    const auto value = make_redis_value(block.text, pages, block.key, expires);
    redis.append({word("SET"), word(block.name), value});
  }
  append_expiry(redis, block.name, expires);
  const std::string set = redis_name(block.before) + ":next";
  const std::vector<std::byte> member = sortable_bytes(block.tokens);
  redis.append({word("ZADD"), word(set), word("0"), member});
  redis.append({word("ZREMRANGEBYRANK"), word(set), word("0"), word(kLastDropped)});
  append_expiry(redis, set, expires);
}

}  // namespace

RedisTier::RedisTier(const std::string& url, const RedisTierOptions& options)
    : lines_(new RedisLines(url, options.timeout, 2)) {
  stats_.name = "remote";
}

void RedisTier::count(const std::function<void(TierStats&)>& change) {
  const std::lock_guard lock(mutex_);
  change(stats_);
}

TierStats RedisTier::stats() const {
  const RedisLines::Stats lines = lines_->stats();
  const std::lock_guard lock(mutex_);
  TierStats stats = stats_;
  stats.failures += lines.failures;
  stats.timeouts += lines.timeouts;
  stats.skipped += lines.skipped;
  return stats;
}

void RedisTier::load(const TierText& text, std::int64_t first, BlockReader& reader) {
  const Deadline deadline = lines_->deadline();
  lines_->use(kLoads, deadline, [&](RedisConnection& redis) {
    Load load{redis, text, reader, deadline};
    read(load, first);
    for (const std::string& name : load.useless) redis.append({word("DEL"), word(name)});
    for (std::size_t i = 0; i < load.useless.size(); ++i) redis.next(deadline);
  });
}

// Gives the reader a value, if it is the block at the end of `text`; false: it ends here.
bool RedisTier::deliver(Load& load, const RedisReply& reply, std::span<const TokenId> text,
                        const BlockKey& key) {
  if (reply.kind == RedisReply::Kind::kError) count([](TierStats& s) { ++s.failures; });
  if (reply.kind != RedisReply::Kind::kBytes) return false;
  const std::optional<RedisValue> value = parse_redis_value(reply.bytes, key);
  if (!value || !std::ranges::equal(value->tokens, text)) {
    // Equal keys of different texts count as damage: one in 2^128, or somebody's doing.
    count([](TierStats& s) { ++s.corrupt_blocks; });
    load.useless.push_back(redis_name(key));
    return false;
  }
  std::chrono::milliseconds ttl{0};
  if (value->expires != 0) {
    ttl = std::chrono::milliseconds(value->expires - unix_ms());
    if (ttl.count() <= 0) {
      load.useless.push_back(redis_name(key));
      return false;
    }
  }
  std::vector<std::int64_t> sizes;
  for (const auto& page : value->pages) sizes.push_back(std::ssize(page));
  const std::int64_t size = load.text.block_size;
  const std::int64_t before = (std::ssize(text) - 1) / size * size;
  const auto places = load.to.place(text.subspan(static_cast<std::size_t>(before)), sizes, ttl);
  if (places.empty()) return false;
  for (std::size_t g = 0; g < places.size(); ++g)
    std::ranges::copy(value->pages[g], places[g].data());
  load.to.placed();
  count([](TierStats& s) { ++s.loaded_blocks; });
  return true;
}

void RedisTier::read(Load& load, std::int64_t first) {
  const TierText& text = load.text;
  const std::int64_t full = std::ssize(text.tokens) / text.block_size;
  std::vector<BlockKey> keys = {text.space};
  for (std::int64_t i = 0; i < full; ++i) {
    keys.push_back(block_key(keys.back(), text.space, block_of(text, i)));
  }
  std::int64_t asked = first;
  std::int64_t at = first;
  bool going = true;
  while (at < asked || (going && asked < full)) {
    for (; going && asked < full && asked - at < static_cast<std::int64_t>(kAhead); ++asked) {
      const std::string name = redis_name(keys[static_cast<std::size_t>(asked + 1)]);
      load.redis.append({word("GET"), word(name)});
    }
    const RedisReply reply = load.redis.next(load.deadline);
    if (going) {
      const auto end = static_cast<std::size_t>((at + 1) * text.block_size);
      going = deliver(load, reply, text.tokens.first(end), keys[static_cast<std::size_t>(at + 1)]);
      if (!going) keys.resize(static_cast<std::size_t>(at + 1));
    }
    ++at;
  }
  const auto known = std::min(std::ssize(keys) - 1, full);
  if (known * text.block_size < std::ssize(text.tokens)) read_nearest(load, known, keys.back());
}

// The block after block `block` - 1 that shares most with the text.
void RedisTier::read_nearest(Load& load, std::int64_t block, const BlockKey& parent) {
  const TierText& text = load.text;
  const std::span<const TokenId> wanted = block_of(text, block);
  const std::vector<std::byte> bytes = sortable_bytes(wanted);
  std::string from = "[";
  from.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string set = redis_name(parent) + ":next";
  load.redis.append({word("ZREVRANGEBYLEX"), word(set), word(from), word("-"), word("LIMIT"),
                     word("0"), word("1")});
  load.redis.append(
      {word("ZRANGEBYLEX"), word(set), word(from), word("+"), word("LIMIT"), word("0"), word("1")});
  TokenIds best;
  std::int64_t most = -1;
  for (int side = 0; side < 2; ++side) {
    const RedisReply reply = load.redis.next(load.deadline);
    if (reply.list.empty()) continue;
    TokenIds tokens = tokens_of(reply.list[0]);
    const std::int64_t shared = common_prefix(tokens, wanted);
    if (shared <= most || std::ssize(tokens) > text.block_size) continue;
    most = shared;
    best = std::move(tokens);
  }
  if (most < 0) return;
  if (most == 0) {
    load.to.place(best, {}, {});
    return;
  }
  const BlockKey key = block_key(parent, text.space, best);
  const auto before = text.tokens.first(static_cast<std::size_t>(block * text.block_size));
  TokenIds whole(before.begin(), before.end());
  whole.insert(whole.end(), best.begin(), best.end());
  const std::string name = redis_name(key);
  load.redis.append({word("GET"), word(name)});
  deliver(load, load.redis.next(load.deadline), whole, key);
}

std::int64_t RedisTier::store(const TierText& text, std::int64_t first,
                              std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl) {
  std::int64_t stored = 0;
  while (stored < std::ssize(blocks)) {
    std::int64_t more = 0;
    const Deadline deadline = Clock::now() + kStoreTimeout;
    lines_->use(kStores, deadline, [&](RedisConnection& redis) {
      more = write(redis, text, first + stored, blocks.subspan(static_cast<std::size_t>(stored)),
                   ttl, deadline);
    });
    if (more == 0) break;
    stored += more;
  }
  count([&](TierStats& s) {
    s.stored_blocks += stored;
    s.rejected_blocks += std::ssize(blocks) - stored;
  });
  return stored;
}

// Writes blocks up to a number of bytes; how many are there now. Of those that are there already
// the expiry is written, and all of it if the new one has more pages.
std::int64_t RedisTier::write(RedisConnection& redis, const TierText& text, std::int64_t first,
                              std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl,
                              Deadline deadline) {
  const std::vector<Wanted> wanted = ask_for(redis, text, first, blocks, deadline);
  const std::int64_t expires = ttl.count() > 0 ? saturating_sum(unix_ms(), ttl.count()) : 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    append_store(redis, wanted[i], blocks[i], expires);
  }
  std::int64_t stored = 0;
  bool going = true;
  for (const Wanted& block : wanted) {
    const bool written = redis.next(deadline).kind != RedisReply::Kind::kError;
    for (int reply = 1; reply < kStoreReplies; ++reply) redis.next(deadline);
    going = going && (written || block.there);
    stored += going ? 1 : 0;
  }
  return stored;
}

std::shared_ptr<PageTier> make_redis_tier(const std::string& url, const RedisTierOptions& options) {
  return std::make_shared<RedisTier>(url, options);
}

}  // namespace quire
