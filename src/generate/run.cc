// SPDX-License-Identifier: Apache-2.0
#include "generate/run.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <utility>

namespace quire {
namespace {

using std::chrono::duration;

double milliseconds(Run::Clock::duration time) {
  return duration<double, std::milli>(time).count();
}

double per_second(std::int64_t count, double ms) {
  return ms > 0 ? static_cast<double>(count) * 1000 / ms : 0;
}

}  // namespace

bool is_over(const Request& request) {
  return request.cancel.stop_requested() ||
         (request.deadline && Run::Clock::now() >= *request.deadline);
}

at::Tensor prefill(const Model& model, ThreadPool& threads, std::span<const TokenId> prompt,
                   KvCache& cache, std::int64_t chunk, const Request* request) {
  const std::int64_t count = std::ssize(prompt);
  const std::int64_t length = cache.length() + count;
  at::Tensor logits;
  for (std::int64_t first = 0; first < count; first += chunk) {
    if (request != nullptr && is_over(*request)) return {};
    const std::int64_t size = std::min(chunk, count - first);
    const bool last = first + size == count;
    const Sequence sequence{
        prompt.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)), cache,
        last ? 1 : 0, length};
    logits = model.forward({&sequence, 1}, &threads);
  }
  return logits;
}

Run::Rollback::Rollback(KvCache& cache)
    : cache_(cache), checkpoint_(cache.checkpoint()), length_(cache.length()) {}

Run::Rollback::~Rollback() {
  if (armed_) now();
}

void Run::Rollback::now() {
  armed_ = false;
  if (cache_.length() == length_) return;
  checkpoint_ ? cache_.restore(*checkpoint_) : cache_.truncate(length_);
}

Run::Run(const Model& model, const Request& request, const AnswerOptions& options,
         std::span<const TokenId> prompt, std::int64_t reused, KvCache& cache,
         const StreamCallback& stream)
    : request_(request),
      prompt_(prompt),
      reused_(reused),
      read_(reused),
      cache_(cache),
      rollback_(cache),
      length_(cache.length() + unread()) {
  TokenIds history = request.cache_ids;
  history.insert(history.end(), prompt.begin(), prompt.end());
  for (int i = 0; i < request.n; ++i) {
    Draft draft;
    if (!options.draft.empty() || options.prompt_lookup) {
      draft = Draft(options.draft, options.prompt_lookup ? std::optional(history) : std::nullopt);
    }
    answers_.emplace_back(Answer(options, model.tokenizer(), history, i, stream), std::move(draft),
                          options.draft_limit);
  }
}

void Run::start(std::span<const float> logits) {
  started_ = Clock::now();
  std::vector<float> copy(logits.begin(), logits.end());
  begin(copy);
}

bool Run::done() const {
  return expired_ || (unread() == 0 && std::ranges::all_of(answers_, &Decoding::done));
}

void Run::plan(std::int64_t chunk, bool drafts, std::vector<Sequence>& batch) {
  if (!started_) started_ = Clock::now();
  if (unread() > 0) {
    chunk_ = std::min(chunk, unread());
    const auto tokens =
        prompt_.subspan(static_cast<std::size_t>(read_), static_cast<std::size_t>(chunk_));
    batch.push_back({tokens, cache_, chunk_ == unread() ? 1 : 0, length_});
    return;
  }
  for (Decoding& answer : answers_) {
    if (!answer.done()) batch.push_back(answer.next(drafts));
  }
}

void Run::take(float* logits, std::int64_t vocab) {
  if (unread() > 0) {
    read_ += chunk_;
    if (unread() == 0) begin({logits, static_cast<std::size_t>(vocab)});
    return;
  }
  for (Decoding& answer : answers_) {
    if (answer.done()) continue;
    const std::int64_t rows = answer.rows();
    answer.take(logits, vocab);
    logits += rows * vocab;
  }
}

void Run::begin(std::span<float> logits) {
  if (when_read_) when_read_(logits);
  first_token_ = Clock::now();
  for (std::size_t i = 1; i < answers_.size(); ++i) {
    forks_.push_back(cache_.fork());
    std::vector<float> copy(logits.begin(), logits.end());
    answers_[i].begin(*forks_.back(), copy);
  }
  answers_[0].begin(cache_, logits);
}

void Run::expire() {
  expired_ = unread() > 0;
  if (expired_) rollback_.now();
  const bool cancelled = request_.cancel.stop_requested();
  const FinishReason reason = cancelled ? FinishReason::kCancelled : FinishReason::kDeadline;
  for (Decoding& answer : answers_) answer.end(reason);
}

Result Run::finish(Clock::time_point called) {
  Result result = report();
  const Clock::time_point now = Clock::now();
  const Clock::time_point started = started_.value_or(now);
  const Clock::time_point first = first_token_.value_or(now);
  Timings& t = result.timings;
  t.queue_ms = milliseconds(started - called);
  t.prefill_ms = milliseconds(first - started);
  t.ttft_ms = first_token_ ? milliseconds(first - called) : 0;
  t.decode_ms = milliseconds(now - first);
  t.prefill_tokens_per_s = per_second(read_ - reused_, t.prefill_ms);
  t.decode_tokens_per_s =
      per_second(std::max<std::int64_t>(result.usage.completion_tokens - std::ssize(answers_), 0),
                 t.decode_ms);
  rollback_.keep();
  return result;
}

Result Run::report() const {
  Result result;
  static_cast<Choice&>(result) = answers_.front().choice();
  Usage& usage = result.usage;
  usage.prompt_tokens = std::ssize(prompt_);
  usage.uncached_tokens = usage.prompt_tokens;
  for (const Decoding& answer : answers_) {
    usage.completion_tokens += std::ssize(answer.choice().ids);
    usage.draft_tokens += answer.drafted();
    usage.accepted_draft_tokens += answer.accepted();
    if (answers_.size() > 1) result.choices.push_back(answer.choice());
  }
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  result.cache.kv = cache_.kind();
  result.cache.length = cache_.length();
  return result;
}

}  // namespace quire
