// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

namespace quire {

// A level behind the two in memory, such as a server that machines share. It may fail at any time:
// a call that throws counts as a miss or as not written, and the cache goes on without it. What it
// could not be told in that time it does not know: a value that was replaced or erased meanwhile
// may come back.
template <typename Key, typename Value>
class CacheLevel {
 public:
  virtual ~CacheLevel() = default;
  virtual std::optional<Value> get(const Key& key) = 0;
  virtual void put(const Key& key, const Value& value) = 0;
  virtual void erase(const Key& key) = 0;
};

struct RedisLevelOptions {
  std::chrono::milliseconds timeout{250};  // the most that one call waits
  std::chrono::milliseconds ttl{0};        // of what is put; 0: for ever
  std::string name_space = "values";       // keys of different ones never meet
};

// Values of any bytes in a Redis, which machines share. A value comes back only for the very key it
// was put for, and undamaged: the key's hash, which names it there, is no proof. A Redis that is
// absent, frozen or full costs no caller more than one time-out: a call that fails throws Error kIo
// (kCorrupt for what is not a value of that key), and those after it find nothing and keep nothing,
// without a word, until a thread has reached the Redis again, as make_redis_tier says.
//
// Thread-safety: all methods may be called concurrently.
// Throws Error: kInvalidArgument (the URL, the time-out), kUnsupported (built without hiredis).
QUIRE_EXPORT std::shared_ptr<CacheLevel<std::string, std::string>> make_redis_level(
    const std::string& url, const RedisLevelOptions& options = {});

}  // namespace quire
