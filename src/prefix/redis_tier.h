// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "io/home_owned.h"
#include "io/redis_lines.h"

namespace quire {

// Blocks as values of a Redis, by their keys. A value begins with all the tokens of the text up to
// the block's end, so that a hit is proved whatever else the Redis has forgotten or been given, and
// a checksum. Beside each block, a sorted set of the tokens of those that follow it, whose order
// finds the one that shares most with a text; it is cut at 4,095 members. Both live as long as the
// last store said. A load removes the values that it finds damaged or expired: a store, which looks
// at their size alone, would take them for the blocks.
//
// Two connections, one to load and one to store, which fail as RedisLines says.
class RedisTier final : public PageTier {
 public:
  RedisTier(const std::string& url, const RedisTierOptions& options);

  Kind kind() const override { return Kind::kRemote; }
  void load(const TierText& text, std::int64_t first, BlockReader& reader) override;
  std::int64_t store(const TierText& text, std::int64_t first, std::span<const BlockBytes> blocks,
                     std::chrono::milliseconds ttl) override;
  TierStats stats() const override;

 private:
  using Deadline = RedisConnection::Deadline;

  // A load under way.
  struct Load {
    RedisConnection& redis;
    const TierText& text;
    BlockReader& to;
    Deadline deadline;
    std::vector<std::string> useless = {};  // names of values that can never be served
  };

  void count(const std::function<void(TierStats&)>& change);

  void read(Load& load, std::int64_t first);
  void read_nearest(Load& load, std::int64_t block, const BlockKey& parent);
  bool deliver(Load& load, const RedisReply& reply, std::span<const TokenId> text,
               const BlockKey& key);
  std::int64_t write(RedisConnection& redis, const TierText& text, std::int64_t first,
                     std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl,
                     Deadline deadline);

  const HomeOwned<RedisLines> lines_;
  mutable std::mutex mutex_;  // of stats_
  TierStats stats_;
};

}  // namespace quire
