// SPDX-License-Identifier: Apache-2.0
// The entries of a semantic cache by scope: vectors and answers side by side, what is evicted next,
// what expires next. The only owner of entries, so that an index cannot name one that is gone.
//
// Thread-safety: none; const methods may run concurrently.
#pragma once

#include <quire/semantic_cache.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "semantic/vector_table.h"
#include "semantic/word_pairing.h"

namespace quire {

using WallTime = std::chrono::system_clock::time_point;

// ttl after `from`, or the end of time where that is later.
WallTime expiry_of(WallTime from, std::chrono::milliseconds ttl);

// What the entry's hits taught.
struct Learned {
  double wrong_score = -2;  // the highest that was reported wrong
  std::int64_t right = 0;
  std::int64_t wrong = 0;
};

struct AnswerEntry {
  std::uint64_t id = 0;
  std::string prompt;
  TokenIds ids;
  StoredAnswer answer;
  std::vector<std::string> tags;
  SemanticMiss blind = SemanticMiss::kNone;  // see Sight
  std::shared_ptr<const WordStates> states = std::make_shared<WordStates>();
  WallTime stored{};
  std::optional<std::chrono::milliseconds> ttl;
  std::optional<WallTime> expires;
  Learned learned;
  // Not kept in a file.
  std::string normal;                  // normalized_question(prompt)
  const std::string* exact = nullptr;  // its key among by_exact
  double last_score = 1;
  bool last_semantic = false;
  std::uint64_t uses = 0;

  std::size_t bytes() const;
};

// Whole and not empty: others may have it.
bool is_reusable(const StoredAnswer& answer);

// Ended by its limit of tokens: it is not kept, but whoever waits for the same has it too.
bool is_cut_off(const StoredAnswer& answer);

// What the exact level compares.
std::string exact_key(const std::string& prompt, const TokenIds& ids);

struct AnswerPartition {
  explicit AnswerPartition(SemanticScope of, std::size_t dimension)
      : scope(std::move(of)), vectors(dimension) {}

  const AnswerEntry* exact(const std::string& key) const;
  const AnswerEntry* normal(const std::string& text) const;

  SemanticScope scope;
  const std::string* name = nullptr;  // its key among the table's partitions
  VectorTable vectors;                // row i is that of entries[i]; zeros when it has no vector
  std::vector<std::unique_ptr<AnswerEntry>> entries;
  std::unordered_map<std::string, std::uint64_t> by_exact;   // the latest
  std::unordered_map<std::string, std::uint64_t> by_normal;  // the latest
  std::unordered_map<std::uint64_t, std::size_t> rows;
  std::optional<GuardSet> guards;
  SemanticStats stats;
};

// One string for each scope: fields with their lengths.
std::string scope_key(const SemanticScope& scope);

class AnswerTable {
 public:
  AnswerTable(std::size_t dimension, SemanticEviction eviction)
      : dimension_(dimension), eviction_(eviction) {}

  AnswerPartition* find(const SemanticScope& scope);
  const AnswerPartition* find(const SemanticScope& scope) const;
  AnswerPartition& partition(const SemanticScope& scope);  // made when missing

  AnswerEntry* entry(std::uint64_t id);
  AnswerPartition& partition_of(std::uint64_t id);  // REQUIRES: there is such an entry

  // REQUIRES: no entry of its id is there. One of its exact key is found by it no more. Where
  // memory is lacking, all is as before.
  AnswerEntry& add(AnswerPartition& to, AnswerEntry entry, std::span<const float> unit);
  // Never fails. REQUIRES: there is such an entry.
  void remove(std::uint64_t id);
  // The same, and the entry `old` is found again in its place.
  void remove(std::uint64_t id, std::uint64_t old);

  // A hit: recency and uses; a sliding expiry starts again. Never fails.
  void touch(AnswerEntry& entry, WallTime now, bool sliding);

  std::optional<std::uint64_t> next_to_evict(std::optional<std::uint64_t> but) const;
  // Scopes without entries go, and what was reported of them. False if there are none.
  bool forget_empty();
  std::vector<std::uint64_t> expired(WallTime now) const;
  std::vector<std::uint64_t> tagged(std::string_view tag) const;
  std::vector<std::uint64_t> all() const;

  std::int64_t entries() const { return static_cast<std::int64_t>(owner_.size()); }
  std::int64_t bytes() const;

 private:
  using Rank = std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>;  // …, id

  void rank(const AnswerEntry& entry);
  void take_out(AnswerPartition& from, std::size_t row);
  void drop_if_bare(const AnswerPartition& partition);
  void drop(const AnswerPartition& partition);

  std::size_t dimension_;
  SemanticEviction eviction_;
  std::unordered_map<std::string, std::unique_ptr<AnswerPartition>> partitions_;
  std::unordered_map<std::uint64_t, AnswerPartition*> owner_;
  std::set<Rank> order_;
  std::unordered_map<std::uint64_t, Rank> ranks_;
  std::set<std::pair<WallTime, std::uint64_t>> expiries_;
  std::uint64_t tick_ = 0;
  std::size_t entry_bytes_ = 0;
  std::size_t partition_bytes_ = 0;
  std::size_t vector_bytes_ = 0;
};

}  // namespace quire
