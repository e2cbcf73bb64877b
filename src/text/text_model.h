// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/vocabulary.h"

namespace quire {

// The part of a tokenizer that turns a pre-tokenised piece into ids: BPE, WordPiece, Unigram, …
//
// Thread-safety: immutable; one Scratch belongs to one call.
class TextModel {
 public:
  // What one encode() keeps between pieces: buffers and words already seen.
  class Scratch {
   public:
    virtual ~Scratch() = default;
    // When somebody wants to know what each id was made from: a model appends here, id by id, where
    // that is not the token's own spelling.
    std::vector<std::string>* surfaces = nullptr;
    // Ids that this text must not become (index = id); nullptr for none.
    const std::vector<bool>* barred = nullptr;
    // The next piece begins where the encoded text begins.
    bool at_start = false;
    bool bars(TokenId id) const {
      return barred != nullptr && static_cast<std::size_t>(id) < barred->size() &&
             (*barred)[static_cast<std::size_t>(id)];
    }
  };

  virtual ~TextModel() = default;

  virtual std::unique_ptr<Scratch> make_scratch() const { return std::make_unique<Scratch>(); }

  // Appends the ids of `piece`, valid UTF-8 (or raw bytes where the model was built so).
  // Throws Error kInvalidArgument when the piece cannot be represented.
  virtual void tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const = 0;
};

}  // namespace quire
