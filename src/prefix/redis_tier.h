// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/worker_thread.h"
#include "prefix/redis_connection.h"

namespace quire {

// Blocks as values of a Redis, by their keys. A value begins with all the tokens of the text up to
// the block's end, so that a hit is proved whatever else the Redis has forgotten or been given, and
// a checksum. Beside each block, a sorted set of the tokens of those that follow it, whose order
// finds the one that shares most with a text; it is cut at 4,095 members.
//
// Two connections, one to load and one to store. A thread makes them and makes them again: a load
// never waits for a connection, so a Redis that is gone costs nothing, and one that stops answering
// costs one load its time-out. Between tries the thread waits, longer each time.
class RedisTier final : public PageTier {
 public:
  RedisTier(const std::string& url, const RedisTierOptions& options);
  ~RedisTier() override;

  Kind kind() const override { return Kind::kRemote; }
  void load(const TierText& text, std::int64_t first, BlockReader& reader) override;
  std::int64_t store(const TierText& text, std::int64_t first, std::span<const BlockBytes> blocks,
                     std::chrono::milliseconds ttl) override;
  TierStats stats() const override;

 private:
  using Deadline = RedisConnection::Deadline;

  // A connection with its lock.
  struct Line {
    std::timed_mutex mutex;
    std::unique_ptr<RedisConnection> connection;  // null: none
  };

  void keep_connected();
  bool connect(Line& line);
  // Runs `work` on the line's connection; false, and the connection is gone, if it failed.
  bool use(Line& line, Deadline deadline, const std::function<void(RedisConnection&)>& work);
  void count(const std::function<void(TierStats&)>& change) const;

  void read(RedisConnection& redis, const TierText& text, std::int64_t first, BlockReader& to,
            Deadline deadline);
  void read_nearest(RedisConnection& redis, const TierText& text, std::int64_t block,
                    const BlockKey& parent, BlockReader& to, Deadline deadline);
  bool deliver(const RedisReply& reply, std::span<const TokenId> text, const BlockKey& key,
               std::int64_t block_size, BlockReader& to);
  std::int64_t write(RedisConnection& redis, const TierText& text, std::int64_t first,
                     std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl,
                     Deadline deadline);

  const RedisAddress address_;
  const RedisTierOptions options_;
  Line loads_;
  Line stores_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  mutable TierStats stats_;
  bool lost_ = true;  // a line has no connection
  bool stopping_ = false;
  std::optional<WorkerThread> keeper_;
};

}  // namespace quire
