// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/guard.h>
#include <quire/result.h>
#include <quire/token.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What goes into a SemanticCache and what comes out of it.
namespace quire {

// Answers are shared only within equal scopes: no look-up ever crosses one.
struct SemanticScope {
  std::string name_space = {};  // a tenant
  std::string model = {};       // whose answers
  std::string system_prompt = {};
  std::string history = {};   // what was said before
  std::string sampling = {};  // every parameter that shapes an answer
  std::string vary = {};      // whatever else it depends on: a locale, a document's version

  bool operator==(const SemanticScope&) const = default;
};

struct StoredAnswer {
  std::string response = {};
  TokenIds ids = {};  // of the response, if a model made it
  FinishReason finish_reason = FinishReason::kEos;
  std::string stop = {};
};

// What to do with a text that has tokens outside the encoder's vocabulary: its vector is that of
// the rest, and texts of nothing else all have the same.
enum class UnknownTokens { kRefuse, kAllow };

struct SemanticQuery {
  std::string prompt;
  TokenIds ids = {};  // when given, "exact" compares these and not the text
  SemanticScope scope = {};
  // In place of the cache's own.
  std::optional<double> threshold = std::nullopt;
  std::optional<GuardSet> guards = std::nullopt;
  std::optional<UnknownTokens> unknown_tokens = std::nullopt;
};

struct SemanticKeep {
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;  // in place of the cache's own
  std::vector<std::string> tags = {};                           // for invalidate()
};

struct SemanticEntry {
  std::string prompt;
  StoredAnswer answer;
  TokenIds ids = {};  // of the prompt
  SemanticScope scope = {};
  SemanticKeep keep = {};
};

enum class SemanticMiss {
  kNone,
  kNothingStored,   // in this scope
  kBelowThreshold,  // the nearest text is not near enough
  kRefused,         // near enough, but a guard saw a difference
  kUnknownTokens,   // the encoder does not know a part of the text
  kTooLong,         // the text is longer than the encoder or the guards read
  kEmptyText,
  kBadNumber,  // the embedder failed or gave NaN, infinity or no direction
};

// "nothing_stored", "below_threshold", "refused", "unknown_tokens", "too_long", "empty_text",
// "bad_number"; "none" for a hit.
QUIRE_EXPORT std::string_view to_string(SemanticMiss miss);

struct SemanticHit : StoredAnswer {
  std::uint64_t id = 0;
  AnswerSource level = AnswerSource::kExact;  // exact, normalized or semantic
  double score = 1;                           // the texts' cosine
  std::string matched;                        // the text that was stored
  std::chrono::milliseconds age{0};
};

// A stored text that was looked at and not served.
struct SemanticCandidate {
  std::uint64_t id = 0;
  double score = 0;
  double threshold = 0;  // its own, with what was learned
  std::string matched;
  // What a guard saw. Not asked below the threshold, but for the nearest candidate from 0.80 on.
  std::optional<GuardVerdict> refused = std::nullopt;
};

struct SemanticLookup {
  std::optional<SemanticHit> hit;
  SemanticMiss miss = SemanticMiss::kNone;
  std::vector<SemanticCandidate> passed_over;  // nearest first, those before the hit too
  // With NearHits::kDraft: the nearest answer that was not served.
  std::optional<StoredAnswer> draft;

  explicit operator bool() const { return hit.has_value(); }
  const SemanticHit* operator->() const { return &*hit; }
  const SemanticHit& operator*() const { return *hit; }

  // Why there is no hit, for people and scripts: "polarity" (the guard's name) when a guard
  // refused or would have, otherwise the miss' name.
  QUIRE_EXPORT std::string_view reason() const;
};

// What SemanticCache::get_or_compute gives.
struct SemanticResult : StoredAnswer {
  AnswerSource source = AnswerSource::kModel;
  bool waited = false;    // for another caller who asked the same
  SemanticLookup lookup;  // the look-up that came first
};

// Hits that were reported. `upper`: with 95 % confidence at most this share of such hits is wrong
// (Clopper and Pearson); 1 while nothing is reported.
struct ErrorBound {
  std::int64_t reported = 0;
  std::int64_t wrong = 0;
  double upper = 1;
};

struct SemanticStats {
  std::int64_t entries = 0;
  std::int64_t bytes = 0;  // of the whole cache
  std::int64_t lookups = 0;
  std::int64_t exact_hits = 0;
  std::int64_t normalized_hits = 0;
  std::int64_t semantic_hits = 0;
  std::int64_t misses[8] = {};    // by SemanticMiss
  std::int64_t refusals[7] = {};  // by Guard, one a candidate
  std::int64_t stored = 0;
  std::int64_t evicted = 0;
  std::int64_t expired = 0;
  ErrorBound semantic_errors;  // of semantic hits
};

}  // namespace quire
