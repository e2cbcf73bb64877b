// SPDX-License-Identifier: Apache-2.0
// Inside SemanticCache: the look-up's three levels, the bounds, the learning, all under one lock.
// Scans hold it shared; what they found is looked up again before it is served.
//
// Thread-safety: all methods may be called concurrently.
#pragma once

#include <quire/semantic_cache.h>

#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <span>
#include <string>
#include <vector>

#include "semantic/answer_file.h"
#include "semantic/answer_table.h"
#include "semantic/sight.h"
#include "semantic/single_flight.h"

namespace quire {

struct SemanticCache::Impl {
  Impl(std::shared_ptr<const Embedder> with, const SemanticCacheOptions& given);

  SemanticLookup lookup(const SemanticQuery& query);
  bool look_at_text(const SemanticQuery& query, SemanticLookup& result);  // true for a hit
  std::optional<std::uint64_t> store(const SemanticEntry& entry);
  bool report(std::uint64_t id, bool wrong, std::optional<double> score);
  bool remove(std::uint64_t id);
  std::int64_t invalidate(std::string_view tag);
  void clear();
  void set_guards(const SemanticScope& scope, const GuardSet& guards);
  SemanticStats stats(const SemanticScope* scope) const;
  void verify();

  std::shared_ptr<const Embedder> embedder;
  SemanticCacheOptions options;
  SingleFlight<StoredAnswer> flights;

 private:
  // A row of the scan, with what the guards need: nothing of it refers to the table.
  struct Found {
    SemanticCandidate candidate;
    SemanticMiss blind;
    std::shared_ptr<const WordStates> states;
  };

  void open_file();
  WallTime now() const;
  void expire();
  void drop(std::span<const std::uint64_t> ids);
  void make_room(std::uint64_t kept);
  void count(const SemanticQuery& query, const SemanticLookup& result);
  GuardSet guards_for(const SemanticQuery& query) const;
  void look_at_meaning(const SemanticQuery& query, SemanticLookup& result);
  std::vector<Found> shortlist(const SemanticQuery& query, const Sight& sight) const;
  void choose(const SemanticQuery& query, const Sight& sight, const std::vector<Found>& found,
              SemanticLookup& result);
  bool serve(std::uint64_t id, const std::string& prompt, AnswerSource level, double score,
             SemanticLookup& result);
  void add_draft(SemanticLookup& result);

  mutable std::shared_mutex mutex_;
  AnswerTable table_;
  SemanticStats totals_;
  std::optional<AnswerFile> file_;
  std::uint64_t last_id_ = 0;
};

}  // namespace quire
