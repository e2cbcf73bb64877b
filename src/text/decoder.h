// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace quire {

// One step of turning tokens back into text, at work on one stream. Tokens go in and come out one
// after the other, possibly in parts: a step that joins all tokens to one (Fuse) lets it out as it
// grows. What comes out is valid UTF-8 and never taken back, so decoding all ids at once and one
// by one is the same code.
//
// Thread-safety: one stream, one thread.
class DecodingStage {
 public:
  virtual ~DecodingStage() = default;
  virtual void begin() = 0;                      // a token begins,
  virtual void text(std::string_view part) = 0;  // has this in it,
  virtual void end() = 0;                        // and is complete
  virtual void finish() = 0;                     // there are no more tokens

  void token(std::string_view whole) {
    begin();
    text(whole);
    end();
  }
};

// A step as a tokenizer file describes it (Hugging Face tokenizers' decoders).
//
// Thread-safety: immutable.
class DecoderStep {
 public:
  virtual ~DecoderStep() = default;
  // A stage at the begin of a stream. `next` must outlive it.
  virtual std::unique_ptr<DecodingStage> start(DecodingStage& next) const = 0;
};

using DecoderSteps = std::vector<std::unique_ptr<const DecoderStep>>;

// Stages chained to the end of a text.
class DecodingChain {
 public:
  // `steps` must outlive the chain.
  explicit DecodingChain(const DecoderSteps& steps);
  ~DecodingChain();
  DecodingChain(DecodingChain&&) noexcept;
  DecodingChain& operator=(DecodingChain&&) noexcept;

  void token(std::string_view whole) { front_->token(whole); }
  void finish() { front_->finish(); }
  // The text that became certain since the last call.
  std::string take();

 private:
  class Collector;
  std::unique_ptr<Collector> collector_;
  std::vector<std::unique_ptr<DecodingStage>> stages_;  // last first
  DecodingStage* front_;
};

// Byte letters to text, all tokens joined; a token with other letters is taken as it stands.
std::unique_ptr<const DecoderStep> byte_level_step();
// <0x41> to the byte; a run of them that is no UTF-8 gives U+FFFD for each.
std::unique_ptr<const DecoderStep> byte_fallback_step();
std::unique_ptr<const DecoderStep> fuse_step();
// Removes up to `start` and `stop` times `content` (one character) at a token's ends.
std::unique_ptr<const DecoderStep> strip_step(std::string content, std::size_t start,
                                              std::size_t stop);
// REQUIRES: pattern is not empty.
std::unique_ptr<const DecoderStep> replace_step(std::string pattern, std::string content);
std::unique_ptr<const DecoderStep> replace_step(Regex pattern, std::string content);
// `replacement` to spaces; where it was put in front, it goes from the first token.
std::unique_ptr<const DecoderStep> metaspace_step(std::string replacement, bool prepended);
std::unique_ptr<const DecoderStep> word_piece_step(std::string prefix, bool cleanup);
std::unique_ptr<const DecoderStep> bpe_suffix_step(std::string suffix);
std::unique_ptr<const DecoderStep> ctc_step(std::string pad, std::string delimiter, bool cleanup);
// A space between tokens: what files without a decoder get.
std::unique_ptr<const DecoderStep> spaces_step();

}  // namespace quire
