// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

namespace quire {

// A level behind the two in memory, such as a server that machines share. It may fail at any time:
// a call that throws counts as a miss or as not written, and the cache goes on without it.
template <typename Key, typename Value>
class CacheLevel {
 public:
  virtual ~CacheLevel() = default;
  virtual std::optional<Value> get(const Key& key) = 0;
  virtual void put(const Key& key, const Value& value) = 0;
  virtual void erase(const Key& key) = 0;
};

}  // namespace quire
