// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>
#include <quire/request.h>
#include <quire/result.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "generate/answer.h"

namespace quire {

class ThreadPool;

// Feeds `prompt` to the model in chunks and returns the logits [1, V] after it; an undefined tensor
// if `deadline` came first.
at::Tensor prefill(const Model& model, ThreadPool& threads, std::span<const TokenId> prompt,
                   KvCache& cache, std::int64_t chunk,
                   std::optional<std::chrono::steady_clock::time_point> deadline);

// One request while it runs: prefill in chunks, fork for n > 1, then one forward pass a step for
// all answers that go on.
//
// Thread-safety: one thread; the caller holds whatever guards `threads` and the cache.
class Run {
 public:
  using Clock = std::chrono::steady_clock;

  // `prompt` is not empty and fits; its first `reused` tokens are in the cache already. If that is
  // all of them, `known_logits` are those after it. Everything passed must outlive the run.
  Run(const Model& model, ThreadPool& threads, const Request& request, const AnswerOptions& options,
      std::span<const TokenId> prompt, std::int64_t reused, KvCache& cache,
      const StreamCallback& stream, std::span<const float> known_logits = {});

  // Throws what the model, the sampler and the callback throw; the cache is then as it was.
  // The timings' queue and prompt's share of time are counted from `called`.
  Result execute(std::int64_t prefill_chunk, Clock::time_point called);

 private:
  void decode();
  void end_all(FinishReason reason);
  void take(const at::Tensor& logits, std::int64_t row, Answer& answer);
  void take(std::span<const float> logits, Answer& answer);
  Result report() const;

  const Model& model_;
  ThreadPool& threads_;
  const Request& request_;
  std::span<const TokenId> prompt_;
  std::int64_t reused_;
  KvCache& cache_;
  std::span<const float> known_logits_;
  std::vector<std::unique_ptr<KvCache>> forks_;  // of answers 1 … n - 1
  std::vector<Answer> answers_;
  std::vector<float> scratch_;
};

}  // namespace quire
