// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "text/prefix_trie.h"
#include "text/text_model.h"

namespace quire {

// The most probable way to cover a piece with tokens, found by Viterbi's algorithm in one pass
// (Hugging Face tokenizers, models/unigram): of equal ways the one met first. A character without a
// token costs ten more than the worst token; neighbouring unknowns become one.
class Unigram final : public TextModel {
 public:
  struct Options {
    std::optional<TokenId> unk_id;
    bool byte_fallback = false;
  };
  // `scores` by id. REQUIRES: the vocabulary is not empty and has no gaps.
  Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores, Options options,
          std::string subject);
  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override;

 private:
  struct Node {
    double score;
    std::size_t begin;  // where the best token that ends here begins; npos: not reached
    TokenId id;
  };
  std::vector<Node> best_path(std::string_view piece, const Scratch& scratch) const;
  void add(std::string_view token, const Scratch& scratch, TokenIds& out) const;
  TokenId unk() const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  std::vector<double> scores_;
  Options options_;
  std::string subject_;
  double unk_score_;
  PrefixTrie trie_;
  std::array<TokenId, 256> byte_ids_;
};

}  // namespace quire
