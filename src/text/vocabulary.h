// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// A mapping between pieces and ids, both ways. Ids may leave gaps. All pieces share one arena.
//
// Thread-safety: immutable once filled.
class Vocabulary {
 public:
  static constexpr TokenId kNone = -1;

  void reserve(std::size_t pieces, std::size_t bytes);

  enum class Added { kYes, kPieceTaken, kIdTaken };
  // REQUIRES: id >= 0. Memory grows with the largest id: bound ids before (max_id).
  Added add(std::string_view piece, TokenId id);

  // The largest id that a vocabulary of `pieces` may hold: published files leave gaps, but nothing
  // may be allocated because a file claims an id of four thousand million.
  static std::int64_t max_id(std::size_t pieces) {
    return 4 * static_cast<std::int64_t>(pieces) + (1 << 20);
  }

  TokenId find(std::string_view piece) const;  // kNone if absent
  bool holds(TokenId id) const;
  std::string_view piece(TokenId id) const;  // REQUIRES: holds(id)

  std::size_t size() const { return count_; }        // pieces
  std::size_t end() const { return by_id_.size(); }  // largest id + 1

 private:
  struct Span {
    std::uint32_t offset;
    std::uint32_t length;
  };
  struct Slot {
    std::uint32_t hash;
    TokenId id;
  };
  void grow();

  std::string arena_;
  std::vector<Span> by_id_;
  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t count_ = 0;
};

}  // namespace quire
