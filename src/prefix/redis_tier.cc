// SPDX-License-Identifier: Apache-2.0
#include "prefix/redis_tier.h"

#include <algorithm>
#include <optional>
#include <utility>

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

}  // namespace

RedisTier::RedisTier(const std::string& url, const RedisTierOptions& options)
    : lines_(url, options.timeout, 2) {
  stats_.name = "remote";
}

void RedisTier::count(const std::function<void(TierStats&)>& change) {
  const std::lock_guard lock(mutex_);
  change(stats_);
}

TierStats RedisTier::stats() const {
  const RedisLines::Stats lines = lines_.stats();
  const std::lock_guard lock(mutex_);
  TierStats stats = stats_;
  stats.failures += lines.failures;
  stats.timeouts += lines.timeouts;
  stats.skipped += lines.skipped;
  return stats;
}

void RedisTier::load(const TierText& text, std::int64_t first, BlockReader& reader) {
  const Deadline deadline = lines_.deadline();
  lines_.use(kLoads, deadline,
             [&](RedisConnection& redis) { read(redis, text, first, reader, deadline); });
}

// Gives the reader a value, if it is the block at the end of `text`; false: it ends here.
bool RedisTier::deliver(const RedisReply& reply, std::span<const TokenId> text, const BlockKey& key,
                        std::int64_t block_size, BlockReader& to) {
  if (reply.kind == RedisReply::Kind::kError) count([](TierStats& s) { ++s.failures; });
  if (reply.kind != RedisReply::Kind::kBytes) return false;
  const std::optional<RedisValue> value = parse_redis_value(reply.bytes, key);
  if (!value || !std::ranges::equal(value->tokens, text)) {
    // Equal keys of different texts count as damage: one in 2^128, or somebody's doing.
    count([](TierStats& s) { ++s.corrupt_blocks; });
    return false;
  }
  std::chrono::milliseconds ttl{0};
  if (value->expires != 0) {
    ttl = std::chrono::milliseconds(value->expires - unix_ms());
    if (ttl.count() <= 0) return false;
  }
  std::vector<std::int64_t> sizes;
  for (const auto& page : value->pages) sizes.push_back(std::ssize(page));
  const std::int64_t before = (std::ssize(text) - 1) / block_size * block_size;
  const auto places = to.place(text.subspan(static_cast<std::size_t>(before)), sizes, ttl);
  if (places.empty()) return false;
  for (std::size_t g = 0; g < places.size(); ++g)
    std::ranges::copy(value->pages[g], places[g].data());
  to.placed();
  count([](TierStats& s) { ++s.loaded_blocks; });
  return true;
}

void RedisTier::read(RedisConnection& redis, const TierText& text, std::int64_t first,
                     BlockReader& to, Deadline deadline) {
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
      redis.append({word("GET"), word(name)});
    }
    const RedisReply reply = redis.next(deadline);
    if (going) {
      const auto end = static_cast<std::size_t>((at + 1) * text.block_size);
      going = deliver(reply, text.tokens.first(end), keys[static_cast<std::size_t>(at + 1)],
                      text.block_size, to);
      if (!going) keys.resize(static_cast<std::size_t>(at + 1));
    }
    ++at;
  }
  const auto known = std::min(std::ssize(keys) - 1, full);
  if (known * text.block_size < std::ssize(text.tokens)) {
    read_nearest(redis, text, known, keys.back(), to, deadline);
  }
}

// The block after block `block` - 1 that shares most with the text.
void RedisTier::read_nearest(RedisConnection& redis, const TierText& text, std::int64_t block,
                             const BlockKey& parent, BlockReader& to, Deadline deadline) {
  const std::span<const TokenId> wanted = block_of(text, block);
  const std::vector<std::byte> bytes = sortable_bytes(wanted);
  std::string from = "[";
  from.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const std::string set = redis_name(parent) + ":next";
  redis.append({word("ZREVRANGEBYLEX"), word(set), word(from), word("-"), word("LIMIT"), word("0"),
                word("1")});
  redis.append(
      {word("ZRANGEBYLEX"), word(set), word(from), word("+"), word("LIMIT"), word("0"), word("1")});
  TokenIds best;
  std::int64_t most = -1;
  for (int side = 0; side < 2; ++side) {
    const RedisReply reply = redis.next(deadline);
    if (reply.list.empty()) continue;
    TokenIds tokens = tokens_of(reply.list[0]);
    const std::int64_t shared = common_prefix(tokens, wanted);
    if (shared <= most) continue;
    most = shared;
    best = std::move(tokens);
  }
  if (most < 0) return;
  if (most == 0) {
    to.place(best, {}, {});
    return;
  }
  const BlockKey key = block_key(parent, text.space, best);
  const auto before = text.tokens.first(static_cast<std::size_t>(block * text.block_size));
  TokenIds whole(before.begin(), before.end());
  whole.insert(whole.end(), best.begin(), best.end());
  const std::string name = redis_name(key);
  redis.append({word("GET"), word(name)});
  deliver(redis.next(deadline), whole, key, text.block_size, to);
}

std::int64_t RedisTier::store(const TierText& text, std::int64_t first,
                              std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl) {
  std::int64_t stored = 0;
  while (stored < std::ssize(blocks)) {
    std::int64_t more = 0;
    const Deadline deadline = Clock::now() + kStoreTimeout;
    lines_.use(kStores, deadline, [&](RedisConnection& redis) {
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

// Writes blocks up to a number of bytes; how many are there now. Those that are there already are
// left alone, unless the new one has more pages.
std::int64_t RedisTier::write(RedisConnection& redis, const TierText& text, std::int64_t first,
                              std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl,
                              Deadline deadline) {
  std::vector<BlockKey> keys = {text.space};  // of each block and the one before
  std::vector<std::string> names;
  std::vector<std::size_t> sizes;
  std::size_t bytes = 0;
  for (std::int64_t i = 0; i < first + std::ssize(blocks) && bytes < kStoreBytes; ++i) {
    keys.push_back(block_key(keys.back(), text.space, block_of(text, i)));
    if (i < first) continue;
    names.push_back(redis_name(keys.back()));
    const auto length = std::min((i + 1) * text.block_size, std::ssize(text.tokens));
    sizes.push_back(redis_value_size(static_cast<std::size_t>(length),
                                     blocks[static_cast<std::size_t>(i - first)]));
    bytes += sizes.back();
    redis.append({word("STRLEN"), word(names.back())});
  }
  std::vector<bool> there;
  for (const std::size_t size : sizes) {
    const RedisReply reply = redis.next(deadline);
    there.push_back(reply.kind == RedisReply::Kind::kInteger &&
                    reply.integer >= static_cast<std::int64_t>(size));
  }
  const std::int64_t expires = ttl.count() > 0 ? unix_ms() + ttl.count() : 0;
  const std::string expiry = std::to_string(expires);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::int64_t block = first + static_cast<std::int64_t>(i);
    const auto key = static_cast<std::size_t>(block);
    if (!there[i]) {
      const auto end = std::min((block + 1) * text.block_size, std::ssize(text.tokens));
      const auto value = make_redis_value(text.tokens.first(static_cast<std::size_t>(end)),
                                          blocks[i], keys[key + 1], expires);
      redis.append({word("SET"), word(names[i]), value});
    }
    if (expires != 0) redis.append({word("PEXPIREAT"), word(names[i]), word(expiry)});
    const std::string set = redis_name(keys[key]) + ":next";
    const std::vector<std::byte> member = sortable_bytes(block_of(text, block));
    redis.append({word("ZADD"), word(set), word("0"), member});
    redis.append({word("ZREMRANGEBYRANK"), word(set), word("0"), word(kLastDropped)});
  }
  std::int64_t stored = 0;
  bool going = true;
  for (std::size_t i = 0; i < names.size(); ++i) {
    bool good = there[i];
    if (!there[i]) good = redis.next(deadline).kind != RedisReply::Kind::kError;
    if (expires != 0) redis.next(deadline);
    for (int reply = 0; reply < 2; ++reply) redis.next(deadline);
    going = going && good;
    stored += going ? 1 : 0;
  }
  return stored;
}

std::shared_ptr<PageTier> make_redis_tier(const std::string& url, const RedisTierOptions& options) {
  return std::make_shared<RedisTier>(url, options);
}

}  // namespace quire
