// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// The ids of words already tokenised in one text: natural text repeats its words. Bounded: a full
// cache takes no more words.
//
// Thread-safety: one thread.
class WordCache {
 public:
  static constexpr std::size_t kMaxWordBytes = 128;
  static constexpr std::size_t kMaxWords = 1 << 16;

  static std::size_t hash_of(std::string_view word);

  // True and appends the ids if `word` is known.
  bool append(std::string_view word, std::size_t hash, TokenIds& out) const;

  // REQUIRES: `word` is not known. Does nothing when the word is too long or the cache is full.
  void remember(std::string_view word, std::size_t hash, std::span<const TokenId> ids);

 private:
  struct Entry {
    std::uint64_t hash;
    std::uint32_t word;
    std::uint32_t ids;
    std::uint16_t word_bytes;  // 0: an empty slot
    std::uint16_t id_count;
  };
  void grow();

  std::vector<Entry> slots_;  // open addressing, a power of two
  std::size_t count_ = 0;
  std::string words_;
  TokenIds ids_;
};

}  // namespace quire
