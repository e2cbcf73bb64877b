// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/request.h>
#include <quire/result.h>
#include <quire/tokenizer.h>

#include <optional>
#include <span>
#include <vector>

#include "generate/sampler.h"
#include "generate/stopping.h"

namespace quire {

// What a request means once the model's own defaults are filled in.
struct AnswerOptions {
  Sampling sampling;
  std::vector<TokenId> eos;  // empty: go on past EOS
  std::vector<std::string> stop;
  std::int64_t max_new_tokens = 0;
  int logprobs = 0;
  TokenIds draft;
  bool prompt_lookup = false;
  // Texts longer than this are decoded without drafts: rotations that depend on a text's whole
  // length would not be those of one token after the other.
  std::int64_t draft_limit = 0;
};

// One answer while it is generated: takes logits, gives the next token, and says when to end.
// Knows no tensors and no cache.
//
// Thread-safety: one thread at a time.
class Answer {
 public:
  // `tokenizer` may be null (the text then stays empty). `stream` is called with each chunk, and
  // must outlive the answer.
  Answer(const AnswerOptions& options, std::shared_ptr<const Tokenizer> tokenizer,
         std::span<const TokenId> history, std::uint64_t index, const StreamCallback& stream);

  // Chooses the next token from `logits` [V], which are overwritten. Throws Error kBadNumber, and
  // whatever the callback throws.
  void take(std::span<float> logits);

  bool done() const { return done_; }

  // How many tokens it may still take.
  std::int64_t left() const { return options_.max_new_tokens - std::ssize(choice_.ids); }

  // REQUIRES: at least one token was taken.
  TokenId last() const { return choice_.ids.back(); }

  // Ends it from outside, for a deadline.
  void end(FinishReason reason);

  const Choice& choice() const { return choice_; }

 private:
  void report_logprobs(std::span<const float> logits);
  void finish(FinishReason reason);
  void emit(std::string_view text);
  void emit_and_look_for_stop(std::string_view text);

  const AnswerOptions& options_;
  const StreamCallback& stream_;
  Sampler sampler_;
  StopFinder stop_;
  std::optional<StreamDecoder> decoder_;
  Choice choice_;
  bool done_ = false;
};

}  // namespace quire
