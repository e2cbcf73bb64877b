// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/cache_level.h>

#include <optional>
#include <span>
#include <string>

#include "io/home_owned.h"
#include "io/redis_lines.h"

namespace quire {

// make_redis_level's. In Redis, by "quire:<name space>:" and 32 digits of the key's XXH3-128, lies
// the key and the value as checked_bytes.h writes texts.
class RedisLevel final : public CacheLevel<std::string, std::string> {
 public:
  RedisLevel(const std::string& url, const RedisLevelOptions& options);

  std::optional<std::string> get(const std::string& key) override;
  void put(const std::string& key, const std::string& value) override;
  void erase(const std::string& key) override;

  std::string name_of(const std::string& key) const;

 private:
  // The reply to one command; nothing while the Redis is away. Throws Error kIo.
  std::optional<RedisReply> ask(std::span<const RedisConnection::Bytes> words);

  const RedisLevelOptions options_;
  const HomeOwned<RedisLines> lines_;
};

}  // namespace quire
