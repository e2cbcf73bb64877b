// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prefix_index.h>
#include <quire/token.h>

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace quire {

// The logits after whole texts, within a number of bytes; the least recently used go for room. A
// text is found by a hash and proved by its tokens.
//
// Thread-safety: none.
class LastLogits {
 public:
  using Row = std::shared_ptr<const std::vector<float>>;

  explicit LastLogits(std::int64_t max_bytes) : max_bytes_(max_bytes) {}

  // Null: they are not known. Counts as a use.
  Row find(const BlockKey& space, std::span<const TokenId> tokens);

  // In place of what is there; nothing happens if it alone is over the budget. Throws
  // std::bad_alloc; what is kept is sound then.
  void keep(const BlockKey& space, std::span<const TokenId> tokens, std::vector<float> logits);

  // Those of one namespace. Costs O(rows).
  void forget(const BlockKey& space);
  void clear();
  std::int64_t bytes() const { return bytes_; }

 private:
  using Key = std::pair<std::uint64_t, std::uint64_t>;
  struct Entry {
    Key key;
    BlockKey space;
    TokenIds tokens;
    Row row;
  };
  static std::int64_t bytes_of(const Entry& entry);
  void erase(std::list<Entry>::iterator entry);

  const std::int64_t max_bytes_;
  std::int64_t bytes_ = 0;
  std::list<Entry> entries_;  // the last used first
  std::map<Key, std::list<Entry>::iterator> by_key_;
};

}  // namespace quire
