// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/model.h>

#include <cstdint>
#include <memory>
#include <span>

#include "generate/answer.h"
#include "generate/draft.h"

namespace quire {

// One answer after its first token: which tokens each forward pass is fed, and what comes of the
// pass's logits. With a draft, several tokens are fed at once: the last one chosen and what is
// proposed to follow. Each row of logits then gives one token by the same sampler, with the same
// random numbers, that would give it without a draft; where that is not the proposed one, the rest
// of the pass is undone. So a draft changes neither greedy nor sampled answers: a proposed token x
// is accepted with probability p(x), else the token is distributed as p without x.
//
// Thread-safety: one thread at a time.
class Decoding {
 public:
  // Texts longer than `draft_limit` are decoded without drafts.
  Decoding(Answer answer, Draft draft, std::int64_t draft_limit);

  // The first token, from the logits [V] after the prompt. `cache` holds the prompt, and is the
  // answer's alone from now on. The logits are overwritten, here and in take.
  void begin(KvCache& cache, std::span<float> logits);

  // The answer has ended, and the cache holds all of its tokens but the last.
  bool done() const { return answer_.done() && pending_.size() <= 1; }

  // What to compute next; valid until take. Without `drafts`, no more than is certain: a way out
  // when a pass has failed.
  // REQUIRES: begun and not done.
  Sequence next(bool drafts);

  // Rows of logits that the last sequence asked for, and what to do with them, [rows(), V].
  // Throws what the sampler and the callback throw.
  std::int64_t rows() const { return rows_; }
  void take(float* logits, std::int64_t vocab);

  // Ends the answer from outside. There may still be something to compute.
  void end(FinishReason reason) { answer_.end(reason); }

  const Choice& choice() const { return answer_.choice(); }
  std::int64_t drafted() const { return drafted_; }
  std::int64_t accepted() const { return accepted_; }

 private:
  void choose(std::span<float> logits);
  void keep(std::int64_t accepted);

  Answer answer_;
  Draft draft_;
  std::int64_t draft_limit_;
  KvCache* cache_ = nullptr;
  std::unique_ptr<KvCache> checkpoint_;  // before a pass with a proposal
  TokenIds pending_;                     // the answer's tokens that the cache lacks
  TokenIds fed_;                         // pending_, then what is proposed
  std::int64_t rows_ = 0;
  std::int64_t drafted_ = 0;
  std::int64_t accepted_ = 0;
};

}  // namespace quire
