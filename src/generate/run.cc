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

// Puts a cache back to the length it had, unless told to keep what came since.
class Rollback {
 public:
  explicit Rollback(KvCache& cache)
      : cache_(cache), checkpoint_(cache.checkpoint()), length_(cache.length()) {}
  ~Rollback() {
    if (armed_) now();
  }
  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

  void now() {
    armed_ = false;
    if (cache_.length() == length_) return;
    checkpoint_ ? cache_.restore(*checkpoint_) : cache_.truncate(length_);
  }
  void keep() { armed_ = false; }

 private:
  KvCache& cache_;
  std::unique_ptr<KvCache> checkpoint_;
  std::int64_t length_;
  bool armed_ = true;
};

bool late(const std::optional<Run::Clock::time_point>& deadline) {
  return deadline && Run::Clock::now() >= *deadline;
}

}  // namespace

at::Tensor prefill(const Model& model, ThreadPool& threads, std::span<const TokenId> prompt,
                   KvCache& cache, std::int64_t chunk,
                   std::optional<std::chrono::steady_clock::time_point> deadline) {
  const std::int64_t count = std::ssize(prompt);
  const std::int64_t length = cache.length() + count;
  at::Tensor logits;
  for (std::int64_t first = 0; first < count; first += chunk) {
    if (late(deadline)) return {};
    const std::int64_t size = std::min(chunk, count - first);
    const bool last = first + size == count;
    const Sequence sequence{
        prompt.subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(size)), cache,
        last ? 1 : 0, length};
    logits = model.forward({&sequence, 1}, &threads);
  }
  return logits;
}

Run::Run(const Model& model, ThreadPool& threads, const Request& request,
         const AnswerOptions& options, std::span<const TokenId> prompt, std::int64_t reused,
         KvCache& cache, const StreamCallback& stream, std::span<const float> known_logits)
    : model_(model),
      threads_(threads),
      request_(request),
      prompt_(prompt),
      reused_(reused),
      cache_(cache),
      known_logits_(known_logits) {
  TokenIds history = request.cache_ids;
  history.insert(history.end(), prompt.begin(), prompt.end());
  answers_.reserve(static_cast<std::size_t>(request.n));
  for (int i = 0; i < request.n; ++i) {
    answers_.emplace_back(options, model.tokenizer(), history, i, stream);
  }
}

Result Run::execute(std::int64_t prefill_chunk, Clock::time_point called) {
  const Clock::time_point started = Clock::now();
  Rollback rollback(cache_);
  const std::span<const TokenId> fresh = prompt_.subspan(static_cast<std::size_t>(reused_));
  const at::Tensor logits =
      prefill(model_, threads_, fresh, cache_, prefill_chunk, request_.deadline);
  const bool prefilled = logits.defined() || fresh.empty();
  const Clock::time_point first_token = Clock::now();
  if (prefilled) {
    for (Answer& answer : answers_) {
      fresh.empty() ? take(known_logits_, answer) : take(logits, 0, answer);
    }
    decode();
    rollback.keep();
  } else {
    rollback.now();
    end_all(FinishReason::kDeadline);
  }
  Result result = report();
  Timings& t = result.timings;
  t.queue_ms = milliseconds(started - called);
  t.prefill_ms = milliseconds(first_token - started);
  t.ttft_ms = prefilled ? milliseconds(first_token - called) : 0;
  t.decode_ms = milliseconds(Clock::now() - first_token);
  t.prefill_tokens_per_s = per_second(std::ssize(fresh), t.prefill_ms);
  t.decode_tokens_per_s = per_second(
      std::max<std::int64_t>(result.usage.completion_tokens - request_.n, 0), t.decode_ms);
  return result;
}

void Run::decode() {
  for (std::size_t i = 1; i < answers_.size(); ++i) forks_.push_back(cache_.fork());
  while (true) {
    std::vector<Answer*> live;
    TokenIds last;
    for (Answer& answer : answers_) {
      if (answer.done()) continue;
      live.push_back(&answer);
      last.push_back(answer.last());
    }
    if (live.empty()) return;
    if (late(request_.deadline)) return end_all(FinishReason::kDeadline);
    std::vector<Sequence> batch;
    for (std::size_t i = 0; i < live.size(); ++i) {
      const auto index = static_cast<std::size_t>(live[i] - answers_.data());
      KvCache& cache = index == 0 ? cache_ : *forks_[index - 1];
      batch.push_back({std::span<const TokenId>(&last[i], 1), cache, 1});
    }
    const at::Tensor logits = model_.forward(batch, &threads_);
    for (std::size_t i = 0; i < live.size(); ++i) {
      take(logits, static_cast<std::int64_t>(i), *live[i]);
    }
  }
}

void Run::end_all(FinishReason reason) {
  for (Answer& answer : answers_) answer.end(reason);
}

void Run::take(const at::Tensor& logits, std::int64_t row, Answer& answer) {
  const std::int64_t vocab = logits.size(1);
  const at::Tensor host = logits.cpu();
  take({host.const_data_ptr<float>() + row * vocab, static_cast<std::size_t>(vocab)}, answer);
}

void Run::take(std::span<const float> logits, Answer& answer) {
  scratch_.assign(logits.begin(), logits.end());
  answer.take(scratch_);
}

Result Run::report() const {
  Result result;
  static_cast<Choice&>(result) = answers_.front().choice();
  Usage& usage = result.usage;
  usage.prompt_tokens = std::ssize(prompt_);
  usage.uncached_tokens = usage.prompt_tokens;
  for (const Answer& answer : answers_) {
    usage.completion_tokens += std::ssize(answer.choice().ids);
    if (answers_.size() > 1) result.choices.push_back(answer.choice());
  }
  usage.total_tokens = usage.prompt_tokens + usage.completion_tokens;
  result.cache.kv = cache_.kind();
  result.cache.length = cache_.length();
  return result;
}

}  // namespace quire
