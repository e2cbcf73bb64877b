// SPDX-License-Identifier: Apache-2.0
// A text as the ids that a sentence encoder reads: white space around it stripped, cut to the
// encoder's length, special tokens around it, as sentence-transformers does.
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/tokenizer.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "model/encoder_files.h"

namespace quire {

struct SentenceIds {
  TokenIds ids;
  std::int64_t unknown_tokens = 0;  // of the whole text, before it was cut
  bool truncated = false;
};

class SentenceTokenizer {
 public:
  // Throws Error kCorrupt when what surrounds a text leaves no room for any.
  // REQUIRES: files.tokenizer is not null.
  explicit SentenceTokenizer(const EncoderFiles& files);

  SentenceIds encode(std::string_view text) const;
  std::string piece(TokenId id) const { return tokenizer_->token(id); }

 private:
  std::shared_ptr<const Tokenizer> tokenizer_;
  std::string prompt_;
  bool lower_case_;
  std::size_t room_;  // for a text's own tokens
  TokenIds before_;
  TokenIds after_;
};

}  // namespace quire
