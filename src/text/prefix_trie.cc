// SPDX-License-Identifier: Apache-2.0
#include "text/prefix_trie.h"

namespace quire {

PrefixTrie::PrefixTrie(const Vocabulary& vocabulary) : edges_(64, Edge{0, 0}) {
  ids_.push_back(Vocabulary::kNone);
  for (TokenId id = 0; static_cast<std::size_t>(id) < vocabulary.end(); ++id) {
    if (!vocabulary.holds(id)) continue;
    std::uint32_t node = 0;
    for (const char byte : vocabulary.piece(id)) {
      node = add_child(node, static_cast<unsigned char>(byte));
    }
    ids_[node] = id;
  }
}

std::size_t PrefixTrie::slot_of(std::uint64_t key) const {
  const std::size_t mask = edges_.size() - 1;
  std::size_t at = static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20) & mask;
  while (edges_[at].node != 0 && edges_[at].key != key) at = (at + 1) & mask;
  return at;
}

std::uint32_t PrefixTrie::child(std::uint32_t node, unsigned char byte) const {
  return edges_[slot_of((std::uint64_t{node} << 8) | byte)].node;
}

std::uint32_t PrefixTrie::add_child(std::uint32_t node, unsigned char byte) {
  if (edges_.size() < 2 * ids_.size()) {
    std::vector<Edge> old(2 * edges_.size(), Edge{0, 0});
    old.swap(edges_);
    for (const Edge& edge : old) {
      if (edge.node != 0) edges_[slot_of(edge.key)] = edge;
    }
  }
  const std::uint64_t key = (std::uint64_t{node} << 8) | byte;
  Edge& edge = edges_[slot_of(key)];
  if (edge.node == 0) {
    edge = {key, static_cast<std::uint32_t>(ids_.size())};
    ids_.push_back(Vocabulary::kNone);
  }
  return edge.node;
}

}  // namespace quire
