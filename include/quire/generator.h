// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/model.h>
#include <quire/request.h>
#include <quire/result.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace quire {

class AnswerCache;
class PrefixCache;
class PromptCache;
class SemanticCache;

struct GeneratorOptions {
  int threads = 0;  // for its own thread pool; 0: one a core. The host's settings stay untouched.
  std::int64_t prefill_chunk = 512;  // tokens a forward pass while reading prompts
  std::int64_t shared_chunk = 64;    // the same while other requests decode
  std::int64_t max_batch = 32;       // answers generated at once; further requests wait …
  std::int64_t max_queue = 1024;     // … and no more than so many
  // A prefix cache of its own within this budget (0: none), or one that generators share: not
  // owned, and it must outlive the generator.
  std::int64_t prefix_cache_bytes = 256ll << 20;
  PrefixCache* prefix_cache = nullptr;
  // What marks in messages keep: a prompt cache of its own within this budget (0: marks are not
  // looked at), or one that is shared, as above; a snapshot of that one serves any request that
  // begins as it does and fits in it. Where it was made in a cache that is not exact (quantised,
  // sliding), neither is the answer.
  std::int64_t prompt_cache_bytes = 1ll << 30;
  PromptCache* prompt_cache = nullptr;
  // Answers for requests that ask for reuse: to equal requests, which are looked up first, and to
  // similar ones. Not owned, and they must outlive the generator.
  AnswerCache* answer_cache = nullptr;
  SemanticCache* semantic_cache = nullptr;
};

// Runs requests on a model.
//
// Concurrent calls share one running batch: every forward pass computes the next tokens of all
// requests, which reads the weights once for all of them. Requests join and leave at any pass,
// first come, first served; each has its own sampling, stopping, callback, deadline and errors, and
// gets the result it would get alone. A long prompt is read in pieces, between which others go on;
// of prompts that begin alike and arrive together, the first is read and the others reuse its
// pages (if there is a prefix cache). All work is done on the threads of callers and of the pool.
//
// Thread-safety: every method may be called concurrently; calls with the same cache may not. A
// process that was forked is refused (kUnsupported) what its parent's generator does; it may make one
// of its own, of the same model.
class QUIRE_EXPORT Generator {
 public:
  explicit Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options = {});
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Throws Error: kInvalidArgument (a request that makes no sense), kContextOverflow (prompt + new
  // tokens over the model's context or the cache's capacity, before any work), kEmptyPrompt,
  // kOutOfPages, kTemplate, kOverloaded (max_queue requests wait already). After an error the
  // caller's cache is as before the call.
  Result generate(const Request& request, const StreamCallback& stream = {});

  // Reads a prompt without generating, and freezes it: in `cache`, an empty one of any class, or in
  // a DynamicCache. Messages are rendered without opening an answer. With Request::snapshot what
  // that has in common with the prompt is not computed again, and the class is the snapshot's.
  // Throws Error as generate. Settings for the answer are not looked at.
  Snapshot prefill(const Request& request, std::unique_ptr<KvCache> cache = nullptr);

  // The logits of the token that would come next, [V], unprocessed. Throws Error as generate, and
  // kInvalidArgument for a request with a cache.
  std::vector<float> next_logits(const Request& request);

  // The token ids a request stands for. `open_answer`: with messages, the tokens that begin the
  // answer too.
  TokenIds tokenize(const Request& request, bool open_answer = true) const;

  const std::shared_ptr<const Model>& model() const;

  // The caches in use; nullptr if there is none.
  PrefixCache* prefix_cache() const;
  PromptCache* prompt_cache() const;

 private:
  friend class PromptCache;
  Snapshot prefill_from(const Snapshot& from, const Request& request,
                        std::unique_ptr<KvCache> cache);

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
