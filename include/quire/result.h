// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/miss_reason.h>
#include <quire/token.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What a request gave: the answer, and an account of every token of it.
namespace quire {

enum class FinishReason { kEos, kStop, kLength, kCancelled, kDeadline };

// "eos", "stop", "length", "cancelled", "deadline".
QUIRE_EXPORT std::string_view to_string(FinishReason reason);

struct Usage {
  std::int64_t prompt_tokens = 0;
  std::int64_t completion_tokens = 0;  // of all n answers; an ending EOS counts
  std::int64_t total_tokens = 0;
  std::int64_t cached_tokens = 0;  // prompt tokens that no forward pass was needed for
  // Cache breakpoints: prompt tokens under one that was known, and under one newly stored.
  std::int64_t cache_read_tokens = 0;
  std::int64_t cache_creation_tokens = 0;
  std::int64_t uncached_tokens = 0;  // prompt - read - creation
  std::int64_t draft_tokens = 0;     // proposed by a draft, and of those the accepted
  std::int64_t accepted_draft_tokens = 0;
};

// Prompt tokens that were not computed, by where their keys and values came from.
struct Reused {
  std::int64_t memory = 0;
  std::int64_t copied = 0;
  std::int64_t disk = 0;
  std::int64_t remote = 0;
  std::int64_t snapshot = 0;

  std::int64_t total() const { return memory + copied + disk + remote + snapshot; }
};

// Why no more of the prompt was reused. A field that says nothing about the reason is empty.
struct WhyNotMore {
  MissReason reason = MissReason::kDisabled;
  std::optional<std::int64_t> at = std::nullopt;  // index of the first token not reused
  std::optional<TokenId> had = std::nullopt;      // diverged: the stored token there
  std::optional<TokenId> got = std::nullopt;      // diverged: the request's token there
  std::string field = {};                         // what differs, when it is not a token
};

enum class AnswerSource { kModel, kExact, kNormalized, kSemantic };

// "model", "exact", "normalized", "semantic".
QUIRE_EXPORT std::string_view to_string(AnswerSource source);

// How the search for an answer went that a request asked for.
struct ReuseReport {
  // A stored question that was near and not served: below the threshold, or for what a guard saw.
  struct PassedOver {
    std::uint64_t id = 0;
    double score = 0;
    std::string matched;
    std::string guard;  // empty: none objected
    std::string saw;
  };

  std::string miss = "none";  // why there was no hit: "below_threshold", a guard's name, …
  std::uint64_t id = 0;       // of a hit: for report_wrong and report_right
  double score = 0;
  std::string matched;  // the question that was stored
  std::chrono::milliseconds age{0};
  bool waited = false;  // for an equal request that ran
  std::vector<PassedOver> passed_over;
};

struct CacheReport {
  AnswerSource source = AnswerSource::kModel;
  std::string kv;           // KvCache::kind(): "dynamic", …
  std::int64_t length = 0;  // tokens in the KV cache after the call
  Reused reused;
  WhyNotMore why_not_more;
  std::optional<ReuseReport> reuse;  // with Request::reuse
};

struct Timings {
  double queue_ms = 0;
  double prefill_ms = 0;
  double ttft_ms = 0;  // from the call to the first new token
  double decode_ms = 0;
  double prefill_tokens_per_s = 0;
  double decode_tokens_per_s = 0;
};

// The likeliest tokens of one step, most likely first: (id, natural log of its probability), by
// the model's own distribution, before penalties, temperature and filters.
using TokenLogprobs = std::vector<std::pair<TokenId, float>>;

struct Choice {
  std::string text;  // without the ending EOS and without the stop string
  TokenIds ids;      // the new ids, the ending EOS included
  FinishReason finish_reason = FinishReason::kLength;
  std::string stop;                     // the stop string that ended it
  std::vector<TokenLogprobs> logprobs;  // one a new id, when asked for
  std::vector<float> chosen_logprobs;   // of the new ids themselves
};

struct Result : Choice {
  std::vector<Choice> choices;  // all n of them, the first again, when n > 1
  Usage usage;
  CacheReport cache;
  Timings timings;
};

}  // namespace quire
