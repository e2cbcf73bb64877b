// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/token.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

struct EncodeOptions {
  // Add what the tokenizer's own files say surrounds a text: BOS, EOS, [CLS] … [SEP].
  bool add_special = false;
  // Recognise special tokens spelled out in the text. false: a user's "<|im_end|>" is plain text.
  bool parse_special = true;
};

struct DecodeOptions {
  // Leave special tokens (BOS, <|im_end|>, …) out of the text.
  bool skip_special = false;
};

// Text to token ids and back, as the checkpoint's own tokenizer files define it: byte-level BPE,
// Metaspace BPE with byte fallback, WordPiece, Unigram, SentencePiece models, GGUF vocabularies.
// Ids equal those of Hugging Face tokenizers and sentencepiece on the same files.
//
// An unknown normaliser, pre-tokeniser or model is an Error that names it, never a default.
//
// Thread-safety: immutable after load; every method may be called concurrently.
class QUIRE_EXPORT Tokenizer {
 public:
  // Loads from a Hugging Face directory (tokenizer.json, else tokenizer.model; with
  // tokenizer_config.json when there), from one of these files, or from a .gguf file.
  // Throws Error: kNotFound, kUnsupported, kCorrupt, kIo.
  static std::shared_ptr<const Tokenizer> load(const std::filesystem::path& path);

  virtual ~Tokenizer();

  // Invalid UTF-8 is read as U+FFFD, one for each maximal ill-formed part, as Python does.
  // Throws Error: kInvalidArgument for a byte that a byte-level vocabulary has no token for, and
  // for an unknown token that is named but not there. What other vocabularies without an unknown
  // token cannot spell is left out, as Hugging Face tokenizers does.
  virtual TokenIds encode(std::string_view text, EncodeOptions options = {}) const = 0;

  // What each id of encode(text) was made from, as Hugging Face tokenizers and sentencepiece show
  // it: the token's spelling, but the text itself for added tokens and for unknowns of Unigram and
  // SentencePiece.
  virtual std::vector<std::string> pieces(std::string_view text, EncodeOptions options = {}) const;

  // The text of `ids`. Bytes that form no valid UTF-8 come out as U+FFFD.
  // Throws Error: kInvalidArgument for an id outside the vocabulary.
  virtual std::string decode(std::span<const TokenId> ids, DecodeOptions options = {}) const = 0;

  // The piece as the vocabulary spells it ("Ġthe", "▁the", "##ing"). Throws kInvalidArgument for an
  // id outside the vocabulary or in a gap of it.
  virtual std::string token(TokenId id) const = 0;

  // The id spelled exactly `piece`, added tokens included.
  virtual std::optional<TokenId> id_of(std::string_view piece) const = 0;

  // True for control tokens: those that a user's text must never become by itself.
  virtual bool is_special(TokenId id) const = 0;

  virtual std::size_t vocab_size() const = 0;

  // As the tokenizer's files declare them. eos() may hold more than one id (GGUF eos and eot).
  virtual std::optional<TokenId> bos() const = 0;
  virtual std::vector<TokenId> eos() const = 0;
  virtual std::optional<TokenId> unk() const = 0;

  // True if encode(add_special) puts BOS first.
  virtual bool adds_bos() const = 0;

  // "byte-level BPE", "metaspace BPE", "wordpiece", "unigram", "sentencepiece": for people.
  virtual std::string_view kind() const = 0;
};

// Turns ids into text piece by piece, for streaming: concatenated outputs equal
// Tokenizer::decode of all ids, and every output is whole UTF-8 (a character whose bytes are
// spread over tokens waits for its last one).
//
// Thread-safety: one stream, one thread. Keeps the tokenizer alive.
class QUIRE_EXPORT StreamDecoder {
 public:
  explicit StreamDecoder(std::shared_ptr<const Tokenizer> tokenizer, DecodeOptions options = {});
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;

  // The text that became certain with `id`; may be empty.
  std::string push(TokenId id);

  // What was held back; after it the decoder is as new.
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace quire
