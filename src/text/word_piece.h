// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "text/text_model.h"

namespace quire {

// The longest token that begins the word, then the longest continuation of it, …; a word that
// cannot be covered, or is too long, is one unknown token.
class WordPiece final : public TextModel {
 public:
  struct Options {
    std::string unk_token;
    std::string continuing_subword_prefix;
    std::size_t max_input_chars_per_word;
  };
  WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Options options, std::string subject);
  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  Options options_;
  std::string subject_;
};

// Each piece is a token, or unknown.
class WordLevel final : public TextModel {
 public:
  WordLevel(std::shared_ptr<const Vocabulary> vocabulary, std::string unk_token,
            std::string subject);
  void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const override;

 private:
  std::shared_ptr<const Vocabulary> vocabulary_;
  std::string unk_token_;
  std::string subject_;
};

}  // namespace quire
