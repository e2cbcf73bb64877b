// SPDX-License-Identifier: Apache-2.0
#include "prefix/last_logits.h"

#include <algorithm>
#include <iterator>

namespace quire {
namespace {

std::pair<std::uint64_t, std::uint64_t> key_of(const BlockKey& space,
                                               std::span<const TokenId> tokens) {
  const BlockKey key = block_key(space, space, tokens);
  return {key.high, key.low};
}

}  // namespace

std::int64_t LastLogits::bytes_of(const Entry& entry) {
  return static_cast<std::int64_t>(sizeof(Entry) + entry.tokens.size() * sizeof(TokenId) +
                                   entry.row->size() * sizeof(float));
}

LastLogits::Row LastLogits::find(const BlockKey& space, std::span<const TokenId> tokens) {
  if (entries_.empty()) return nullptr;
  const auto found = by_key_.find(key_of(space, tokens));
  if (found == by_key_.end()) return nullptr;
  const auto entry = found->second;
  if (entry->space != space || !std::ranges::equal(entry->tokens, tokens)) return nullptr;
  entries_.splice(entries_.begin(), entries_, entry);
  return entry->row;
}

void LastLogits::keep(const BlockKey& space, std::span<const TokenId> tokens,
                      std::vector<float> logits) {
  const Key key = key_of(space, tokens);
  if (const auto old = by_key_.find(key); old != by_key_.end()) erase(old->second);
  Entry entry{key, space, TokenIds(tokens.begin(), tokens.end()),
              std::make_shared<const std::vector<float>>(std::move(logits))};
  const std::int64_t bytes = bytes_of(entry);
  if (bytes > max_bytes_) return;
  while (bytes_ + bytes > max_bytes_) erase(std::prev(entries_.end()));
  std::list<Entry> made;  // until nothing can fail any more
  made.push_front(std::move(entry));
  by_key_.emplace(key, made.begin());
  entries_.splice(entries_.begin(), made);
  bytes_ += bytes;
}

void LastLogits::erase(std::list<Entry>::iterator entry) {
  bytes_ -= bytes_of(*entry);
  by_key_.erase(entry->key);
  entries_.erase(entry);
}

void LastLogits::forget(const BlockKey& space) {
  for (auto entry = entries_.begin(); entry != entries_.end();) {
    const auto current = entry++;
    if (current->space == space) erase(current);
  }
}

void LastLogits::clear() {
  by_key_.clear();
  entries_.clear();
  bytes_ = 0;
}

}  // namespace quire
