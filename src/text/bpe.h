// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/text_model.h"
#include "text/vocabulary.h"

namespace quire {

// Ranked merges by the pair they join.
class MergeTable {
 public:
  struct Merge {
    std::uint32_t rank;
    TokenId result;
  };

  void reserve(std::size_t merges);
  // A pair given again keeps its last rank.
  void put(TokenId left, TokenId right, Merge merge);
  const Merge* find(TokenId left, TokenId right) const;

 private:
  struct Slot {
    std::uint64_t key;
    Merge merge;
  };
  void grow();

  std::vector<Slot> slots_;  // open addressing, a power of two
  std::size_t count_ = 0;
};

struct BpeOptions {
  std::string unk_token;                  // empty: none
  std::string continuing_subword_prefix;  // before every character but a word's first
  std::string end_of_word_suffix;         // behind a word's last
  bool fuse_unk = false;
  bool byte_fallback = false;
  bool ignore_merges = false;  // a word that is a token is that token
  // Pieces are the text's bytes, the vocabulary spells them in byte letters.
  bool raw_bytes = false;
};

// Byte-pair encoding as Hugging Face tokenizers does it (models/bpe): a word begins as one token a
// character, then the adjacent pair of lowest rank is joined, leftmost first, while there is one.
// A heap over a linked list: n log n in the length of a word.
class Bpe final : public TextModel {
 public:
  // REQUIRES: merges and vocabulary agree (the loader checks).
  Bpe(std::shared_ptr<const Vocabulary> vocabulary, MergeTable merges, BpeOptions options,
      std::string subject);

  std::unique_ptr<Scratch> make_scratch() const override;
  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override;

 private:
  class Words;
  void first_symbols(std::string_view piece, TokenIds& out) const;
  void add_unknown(std::string_view spelled, bool& pending, TokenIds& out) const;
  void merge(Words& scratch, TokenIds& out) const;
  TokenId unk() const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  MergeTable merges_;
  BpeOptions options_;
  std::string subject_;
  std::array<TokenId, 256> byte_ids_;      // of the letters, where raw_bytes
  std::array<TokenId, 256> fallback_ids_;  // of <0x00> … <0xFF>
};

}  // namespace quire
