// SPDX-License-Identifier: Apache-2.0
#include "text/word_cache.h"

#include <cstring>
#include <functional>

namespace quire {

std::size_t WordCache::hash_of(std::string_view word) {
  return std::hash<std::string_view>{}(word);
}

bool WordCache::append(std::string_view word, std::size_t hash, TokenIds& out) const {
  if (slots_.empty()) return false;
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].word_bytes != 0; at = (at + 1) & mask) {
    const Entry& entry = slots_[at];
    if (entry.hash != hash || entry.word_bytes != word.size() ||
        std::memcmp(words_.data() + entry.word, word.data(), word.size()) != 0) {
      continue;
    }
    const TokenId* first = ids_.data() + entry.ids;
    out.insert(out.end(), first, first + entry.id_count);
    return true;
  }
  return false;
}

void WordCache::remember(std::string_view word, std::size_t hash, std::span<const TokenId> ids) {
  if (word.empty() || word.size() > kMaxWordBytes || count_ == kMaxWords) return;
  if (slots_.size() < 2 * (count_ + 1)) grow();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].word_bytes != 0) at = (at + 1) & mask;
  slots_[at] = {hash, static_cast<std::uint32_t>(words_.size()),
                static_cast<std::uint32_t>(ids_.size()), static_cast<std::uint16_t>(word.size()),
                static_cast<std::uint16_t>(ids.size())};
  words_.append(word);
  ids_.insert(ids_.end(), ids.begin(), ids.end());
  ++count_;
}

void WordCache::grow() {
  std::vector<Entry> old(slots_.empty() ? 256 : 2 * slots_.size(), Entry{0, 0, 0, 0, 0});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Entry& entry : old) {
    if (entry.word_bytes == 0) continue;
    std::size_t at = entry.hash & mask;
    while (slots_[at].word_bytes != 0) at = (at + 1) & mask;
    slots_[at] = entry;
  }
}

}  // namespace quire
