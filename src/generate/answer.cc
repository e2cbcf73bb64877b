// SPDX-License-Identifier: Apache-2.0
#include "generate/answer.h"

#include <algorithm>
#include <utility>

namespace quire {

Answer::Answer(const AnswerOptions& options, std::shared_ptr<const Tokenizer> tokenizer,
               std::span<const TokenId> history, std::uint64_t index, const StreamCallback& stream)
    : options_(options),
      stream_(stream),
      sampler_(options.sampling, history, index),
      stop_(options.stop) {
  if (tokenizer) decoder_.emplace(std::move(tokenizer));
}

void Answer::take(std::span<float> logits) {
  std::vector<float> raw;
  if (options_.logprobs > 0) raw.assign(logits.begin(), logits.end());
  const TokenId id = sampler_.next(logits);
  choice_.ids.push_back(id);
  if (options_.logprobs > 0) report_logprobs(raw);

  if (std::find(options_.eos.begin(), options_.eos.end(), id) != options_.eos.end()) {
    finish(FinishReason::kEos);
    return;
  }
  if (decoder_) emit_and_look_for_stop(decoder_->push(id));
  if (!done_ && std::ssize(choice_.ids) == options_.max_new_tokens) finish(FinishReason::kLength);
}

void Answer::end(FinishReason reason) {
  if (!done_) finish(reason);
}

void Answer::report_logprobs(std::span<const float> logits) {
  choice_.logprobs.push_back(top_logprobs(logits, options_.logprobs));
  const auto normaliser = static_cast<float>(log_sum_exp(logits));
  choice_.chosen_logprobs.push_back(logits[static_cast<std::size_t>(last())] - normaliser);
}

// What was held back is certain now; it may even complete a stop string, or be refused.
void Answer::finish(FinishReason reason) {
  choice_.finish_reason = reason;
  if (decoder_) emit_and_look_for_stop(decoder_->finish());
  if (!done_) emit(stop_.finish());
  done_ = true;
}

void Answer::emit_and_look_for_stop(std::string_view text) {
  emit(stop_.push(text));
  if (!done_ && stop_.found()) {
    done_ = true;
    choice_.finish_reason = FinishReason::kStop;
    choice_.stop = stop_.stop();
  }
}

void Answer::emit(std::string_view text) {
  if (text.empty()) return;
  choice_.text += text;
  if (!stream_) return;
  const Stream wish = stream_(text);
  if (wish == Stream::kContinue) return;
  done_ = true;
  choice_.finish_reason = wish == Stream::kStop ? FinishReason::kStop : FinishReason::kCancelled;
}

}  // namespace quire
