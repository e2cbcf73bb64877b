// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <quire/chat.h>
#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/model.h>
#include <quire/sampling.h>
#include <quire/token.h>

namespace quire {

// What to generate from: exactly one of prompt, ids and messages.
struct Request {
  std::optional<std::string> prompt = std::nullopt;  // special tokens as the tokenizer adds them
  std::optional<TokenIds> ids = std::nullopt;        // taken as they are
  std::vector<Message> messages = {};                // rendered by the model's chat template
  std::string tools_json = {};                       // JSON array, for messages

  std::int64_t max_new_tokens = 256;
  std::optional<Sampling> sampling = std::nullopt;  // none: the model's own defaults
  std::vector<std::string> stop = {};  // ends the answer where one begins, across token borders
  bool ignore_eos = false;             // go on past EOS, which is neither suppressed nor special
  int logprobs = 0;                    // report the k most likely tokens of each step
  int n = 1;                           // answers from one prefill

  // The caller's own cache: the request's tokens are appended after cache->length(). Not owned.
  KvCache* cache = nullptr;

  std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt;
};

enum class Stream { kContinue, kStop, kCancel };

// Receives each chunk of text as it becomes certain: whole UTF-8, never part of a stop string.
// kStop ends the answer here; kCancel abandons it. An exception thrown here ends the request and
// reaches the caller of generate.
using StreamCallback = std::function<Stream(std::string_view chunk)>;

enum class FinishReason { kEos, kStop, kLength, kCancelled, kDeadline };

// "eos", "stop", "length", "cancelled", "deadline".
QUIRE_EXPORT std::string_view to_string(FinishReason reason);

struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;  // the ending EOS counts
  std::int64_t total_tokens = 0;
  std::int64_t cached_tokens = 0;  // prompt tokens that no forward pass was needed for
};

struct Timings {
  double queue_ms = 0;
  double prefill_ms = 0;
  double ttft_ms = 0;  // from the call to the first new token
  double decode_ms = 0;
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;
};

// The likeliest tokens of one step, most likely first: (id, natural log of its probability).
using TokenLogprobs = std::vector<std::pair<TokenId, float>>;

struct Choice {
  std::string text;  // without the ending special token and without the stop string
  TokenIds ids;      // the new ids, the ending EOS included
  FinishReason finish_reason = FinishReason::kLength;
  std::string stop;  // the stop string that ended it
  std::vector<TokenLogprobs> logprobs;
};

struct Result : Choice {
  std::vector<Choice> choices;  // all n of them, the first again, when n > 1
  std::int64_t cache_length = 0;  // tokens in the KV cache after the call
  Usage usage;
  Timings timings;
};

struct GeneratorOptions {
  int threads = 0;  // for its own thread pool; 0: one a core. The host's settings stay untouched.
  std::int64_t prefill_chunk = 512;  // tokens a forward pass while reading the prompt
};

// Runs requests on a model.
//
// Thread-safety: generate may be called concurrently; calls with the same cache may not.
class QUIRE_EXPORT Generator {
 public:
  explicit Generator(std::shared_ptr<const Model> model, const GeneratorOptions& options = {});
  ~Generator();
  Generator(const Generator&) = delete;
  Generator& operator=(const Generator&) = delete;

  // Throws Error: kInvalidArgument (a request that makes no sense), kContextOverflow (prompt + new
  // tokens over the model's context or the cache's capacity, before any work), kEmptyPrompt,
  // kOutOfPages, kTemplate. After an error the caller's cache is as before the call.
  Result generate(const Request& request, const StreamCallback& stream = {});

  // The token ids a request stands for.
  TokenIds tokenize(const Request& request) const;

  const std::shared_ptr<const Model>& model() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
