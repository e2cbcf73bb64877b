// SPDX-License-Identifier: Apache-2.0
// Answers from a cache in place of the model's, for requests that ask for it.
//
// Thread-safety: as the caches.
#pragma once

#include <quire/answer_cache.h>
#include <quire/model.h>
#include <quire/request.h>
#include <quire/result.h>
#include <quire/semantic_cache.h>

#include <functional>

#include "generate/answer.h"

namespace quire {

// Whether the request asks for reuse and its answer stands for itself: greedy unless sampled
// answers were asked for too, alone, without a text before it that only its cache knows.
bool may_reuse_answer(const Request& request, const AnswerOptions& options);

// What is asked and everything else the answer depends on. `prompt`: the request's ids, which are
// all there is of a request that gives ids itself: only equal ones answer it. The scope holds the
// system messages and what was said before the last message apart from the question.
SemanticQuery query_of(const Model& model, const Request& request, const AnswerOptions& options,
                       const TokenIds& prompt);

// Those of a generator; not owned.
struct AnswerCaches {
  AnswerCache* equal;      // of equal requests, asked first
  SemanticCache* similar;  // one of the two may be null
  bool any() const { return equal != nullptr || similar != nullptr; }
};

// A hit, streamed as it was when it was made; else what `run` gives for the request without reuse
// (with the draft that a near hit gave), which is stored when it came to its own end.
// Throws what `run`, the callback and the caches throw.
Result reuse_answer(const AnswerCaches& caches, const Model& model, const Request& request,
                    const AnswerOptions& options, const TokenIds& prompt,
                    const StreamCallback& stream,
                    const std::function<Result(const Request& own)>& run);

}  // namespace quire
