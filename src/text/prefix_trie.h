// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace quire {

// Every piece of a vocabulary that begins a text, found in one walk: a byte trie whose edges lie in
// one hash table, so that memory depends on the pieces' bytes alone.
//
// Thread-safety: immutable once built.
class PrefixTrie {
 public:
  // REQUIRES: the vocabulary's pieces are not empty.
  explicit PrefixTrie(const Vocabulary& vocabulary);

  // Calls visit(id, length) for each piece that begins `text`, shortest first.
  template <typename Visit>
  void each_prefix(std::string_view text, Visit visit) const {
    std::uint32_t node = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
      node = child(node, static_cast<unsigned char>(text[i]));
      if (node == 0) return;
      if (ids_[node] != Vocabulary::kNone) visit(ids_[node], i + 1);
    }
  }

 private:
  struct Edge {
    std::uint64_t key;   // parent node << 8 | byte
    std::uint32_t node;  // 0: an empty slot
  };
  std::uint32_t child(std::uint32_t node, unsigned char byte) const;
  std::uint32_t add_child(std::uint32_t node, unsigned char byte);
  std::size_t slot_of(std::uint64_t key) const;

  std::vector<Edge> edges_;   // open addressing, a power of two
  std::vector<TokenId> ids_;  // by node
};

}  // namespace quire
