// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "generate/run.h"

namespace quire {

class ThreadPool;

// Advances the runs of concurrent callers together: each step is one forward pass over the tokens
// of all of them, so the weights are read once for all. Runs join and leave between any two
// passes. What a run computes does not depend on the company it has (kernels are batch-invariant).
//
// There is no thread of its own: whichever caller is free makes the next pass for all. So one
// request alone runs on its caller's thread without a hand-over, an idle generator costs nothing,
// and a caller returns as soon as its own run is done. A run that streams takes its logits
// (sampling, text, callback) on its own caller's thread, without a lock; a pass waits for that a
// moment, then goes on without those whose callbacks take longer. Runs that do not stream take
// theirs on the thread pool, right after the pass.
//
// While anybody decodes, a pass reads no more than Options::shared_chunk tokens of prompts, which
// the prompts share: the short ones first, so far as their fair share goes.
//
// Thread-safety: drive may be called from any thread, with distinct runs.
class Scheduler {
 public:
  struct Options {
    std::int64_t chunk;         // tokens of prompts a pass, at most
    std::int64_t shared_chunk;  // the same while others decode
  };

  Scheduler(const Model& model, ThreadPool& threads, const Options& options);
  ~Scheduler();
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  // Carries the run to its end. When it is over before that, it expires between two passes.
  // Throws what the run throws, or the model at its sequences; others are not concerned.
  void drive(Run& run, bool streams);

 private:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;
  struct Member;
  class Membership;

  // REQUIRES the lock.
  bool may_start(Clock::time_point now) const;
  void wake_another(const Member& me);
  void make_pass(const Member& me, Lock& lock);

  // Of a pass, without the lock.
  void compute(const std::vector<Member*>& pass, bool decoding) const;
  void compute_alone(Member& member) const;
  void plan(Member& member, bool drafts, std::vector<Sequence>& batch) const;
  void share_chunk(const std::vector<Member*>& pass, bool decoding) const;
  void take_all(const std::vector<Member*>& pass) const;

  const Model& model_;
  ThreadPool& threads_;
  const Options options_;

  std::mutex mutex_;
  std::vector<Member*> members_;  // in order of arrival
  bool in_pass_ = false;
  const Member* last_maker_ = nullptr;
  Clock::time_point grace_ends_;  // until then the next pass waits for callbacks
};

}  // namespace quire
