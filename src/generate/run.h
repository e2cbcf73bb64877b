// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>
#include <quire/request.h>
#include <quire/result.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "generate/answer.h"
#include "generate/decoding.h"

namespace quire {

class ThreadPool;

// Its time is up, or it was cancelled.
bool is_over(const Request& request);

// Feeds `prompt` to the model in chunks and returns the logits [1, V] after it; an undefined tensor
// if `request`, where one is given, was over first.
at::Tensor prefill(const Model& model, ThreadPool& threads, std::span<const TokenId> prompt,
                   KvCache& cache, std::int64_t chunk, const Request* request);

// One request while it runs, pass by pass: the prompt in chunks, a fork for each answer but the
// first, then all answers that go on. It says what to compute, and is given the logits.
//
// Destroyed before finish, it leaves the cache as it was.
//
// Thread-safety: one thread at a time.
class Run {
 public:
  using Clock = std::chrono::steady_clock;

  // `prompt` is not empty and fits; its first `reused` tokens are in the cache already. Everything
  // passed must outlive the run.
  Run(const Model& model, const Request& request, const AnswerOptions& options,
      std::span<const TokenId> prompt, std::int64_t reused, KvCache& cache,
      const StreamCallback& stream);

  // The whole prompt is in the cache, and these are the logits after it. Throws as take.
  void start(std::span<const float> logits);

  // Called with the logits after the prompt once the whole of it is in the cache, before the first
  // token is chosen.
  void when_read(std::function<void(std::span<const float>)> call) { when_read_ = std::move(call); }

  bool done() const;

  // Tokens of the prompt that are still to be read.
  std::int64_t unread() const { return std::ssize(prompt_) - read_; }

  // Appends what to compute next: at most `chunk` tokens of the prompt, or each answer's tokens.
  // It stays valid until take or the next plan, which replaces it. Without `drafts`, no tokens
  // that may turn out wrong. REQUIRES: not done.
  void plan(std::int64_t chunk, bool drafts, std::vector<Sequence>& batch);

  // The logits of what was planned, one row of `vocab` after the other; they are overwritten.
  // Throws what the sampler and the callback throw: the run can then only be destroyed.
  void take(float* logits, std::int64_t vocab);

  bool is_over() const { return quire::is_over(request_); }

  // It is over, and ends. There may still be something to compute.
  void expire();

  // What came of it; the cache is the caller's again. `called`: where its time counts from.
  // REQUIRES: done.
  Result finish(Clock::time_point called);

 private:
  // Puts a cache back to the length it had, unless told to keep what came since.
  class Rollback {
   public:
    explicit Rollback(KvCache& cache);
    ~Rollback();
    Rollback(const Rollback&) = delete;
    Rollback& operator=(const Rollback&) = delete;

    void now();
    void keep() { armed_ = false; }

   private:
    KvCache& cache_;
    std::unique_ptr<KvCache> checkpoint_;
    std::int64_t length_;
    bool armed_ = true;
  };

  void begin(std::span<float> logits);
  Result report() const;

  const Request& request_;
  std::span<const TokenId> prompt_;
  std::int64_t reused_;
  std::int64_t read_;
  std::int64_t chunk_ = 0;  // of the prompt, planned
  KvCache& cache_;
  Rollback rollback_;
  std::int64_t length_;                          // with the whole prompt
  std::vector<std::unique_ptr<KvCache>> forks_;  // of answers 1 … n - 1
  std::vector<Decoding> answers_;
  std::optional<Clock::time_point> started_;
  std::optional<Clock::time_point> first_token_;
  std::function<void(std::span<const float>)> when_read_;
  bool expired_ = false;
};

}  // namespace quire
