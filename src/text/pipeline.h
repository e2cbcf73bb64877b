// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/tokenizer.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/added_tokens.h"
#include "text/decoder.h"
#include "text/normalizer.h"
#include "text/post_processor.h"
#include "text/pre_tokenizer.h"
#include "text/text_model.h"
#include "text/vocabulary.h"

namespace quire {

// What a tokenizer whose text comes out of decoding stages offers to streams.
class StreamingTokenizer : public Tokenizer {
 public:
  virtual const DecoderSteps& decoder() const = 0;

  // The token to put into the chain for `id`; nothing for one that is left out.
  // Throws Error kInvalidArgument for an id outside the vocabulary.
  virtual std::optional<std::string_view> decoded_token(TokenId id,
                                                        DecodeOptions options) const = 0;

  std::string decode(std::span<const TokenId> ids, DecodeOptions options) const final;
};

// The parts of a tokenizer, in the order a text goes through them.
struct TokenizerParts {
  std::string subject;  // the file, for messages
  std::string_view kind;
  AddedTokens added;
  std::unique_ptr<const Normalizer> normalizer;  // may be null
  PreTokenizers pre_tokenizers;
  std::unique_ptr<const TextModel> model;
  std::shared_ptr<const Vocabulary> vocabulary;  // the model's, without added tokens
  PostProcessor post_processor;
  DecoderSteps decoder;
  std::vector<bool> special;  // by id, what is beyond the added tokens' own flags
  std::optional<TokenId> bos;
  std::vector<TokenId> eos;
  std::optional<TokenId> unk;
};

// A tokenizer made of parts: added tokens are cut out, what is left is normalised, cut into pieces,
// given to the model, and put between special tokens.
class PipelineTokenizer final : public StreamingTokenizer {
 public:
  explicit PipelineTokenizer(TokenizerParts parts);

  TokenIds encode(std::string_view text, EncodeOptions options) const override;
  std::vector<std::string> pieces(std::string_view text, EncodeOptions options) const override;
  std::string token(TokenId id) const override;
  std::optional<TokenId> id_of(std::string_view piece) const override;
  bool is_special(TokenId id) const override;
  std::size_t vocab_size() const override { return vocab_size_; }
  std::optional<TokenId> bos() const override { return parts_.bos; }
  std::vector<TokenId> eos() const override { return parts_.eos; }
  std::optional<TokenId> unk() const override { return parts_.unk; }
  bool adds_bos() const override;
  std::string_view kind() const override { return parts_.kind; }

  const DecoderSteps& decoder() const override { return parts_.decoder; }
  std::optional<std::string_view> decoded_token(TokenId id, DecodeOptions options) const override;

 private:
  void check(TokenId id) const;
  std::optional<std::string_view> find(TokenId id) const;
  TokenIds encode_text(std::string_view text, const EncodeOptions& options,
                       TextModel::Scratch& scratch) const;
  void encode_added(const AddedPart& part, std::string_view text, TextModel::Scratch& scratch,
                    TokenIds& out) const;
  void encode_part(std::string_view text, bool at_start, const EncodeOptions& options,
                   TextModel::Scratch& scratch, TokenIds& out) const;
  void encode_pieces(std::string_view text, bool at_start, TextModel::Scratch& scratch,
                     TokenIds& out) const;

  TokenizerParts parts_;
  std::size_t vocab_size_ = 0;
};

}  // namespace quire
