// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "text/text_model.h"

namespace quire {

// BPE as sentencepiece and llama.cpp do it for vocabularies with scores: a text begins as its
// characters, then the adjacent pair that makes the token of highest score is joined, leftmost
// first, while there is one. What is no token then is spelled in byte tokens, or unknown.
class ScoreBpe final : public TextModel {
 public:
  struct Options {
    std::vector<float> scores;  // by id
    std::vector<bool> joins;    // by id: may come out of text (normal, user-defined, unused)
    TokenId unk = Vocabulary::kNone;
  };
  ScoreBpe(std::shared_ptr<const Vocabulary> vocabulary, Options options, std::string subject);

  std::unique_ptr<Scratch> make_scratch() const override;
  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override;

 private:
  class Buffers;
  TokenId find(std::string_view piece) const;
  void join(std::string_view piece, Buffers& buffers) const;
  void add(std::string_view symbol, TokenIds& out) const;

  std::shared_ptr<const Vocabulary> vocabulary_;
  Options options_;
  std::string subject_;
  std::array<TokenId, 256> byte_ids_;
};

}  // namespace quire
