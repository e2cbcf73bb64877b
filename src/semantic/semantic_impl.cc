// SPDX-License-Identifier: Apache-2.0
#include "semantic/semantic_impl.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "semantic/guards.h"
#include "semantic/learning.h"
#include "semantic/normalized_text.h"

namespace quire {

namespace {

// What the nearest text does not answer, one that is farther by this does not either.
constexpr double kTrail = 0.04;

// Below the threshold and yet near: worth telling what the guards see.
constexpr double kNear = 0.80;

[[noreturn]] void refuse(std::string_view field, const std::string& problem) {
  throw Error(ErrorCode::kInvalidArgument, field, problem);
}

const SemanticCacheOptions& checked(const SemanticCacheOptions& options) {
  if (!(options.threshold > 0 && options.threshold <= 1)) {
    refuse("threshold",
           "expected more than 0 and at most 1, found " + std::to_string(options.threshold));
  }
  if (options.candidates < 1) {
    refuse("candidates", "expected at least 1, found " + std::to_string(options.candidates));
  }
  if (options.max_bytes < 0 || options.max_entries < 0) {
    refuse("max_bytes, max_entries", "expected at least 0");
  }
  if (options.ttl && options.ttl->count() <= 0) refuse("ttl", "expected more than 0");
  return options;
}

}  // namespace

SemanticCache::Impl::Impl(std::shared_ptr<const Embedder> with, const SemanticCacheOptions& given)
    : embedder(std::move(with)),
      options(checked(given)),
      table_(static_cast<std::size_t>(embedder->dimension()), options.eviction) {
  if (!options.path.empty()) open_file();
}

void SemanticCache::Impl::open_file() {
  EncoderMark mark;
  mark.name = options.encoder.empty() ? embedder->name() : options.encoder;
  if (mark.name.empty()) refuse("encoder", "expected a name for a cache with a file, found none");
  mark.probe = see(*embedder, kProbe).unit;
  if (mark.probe.empty())
    refuse("embedder", "expected a vector for \"" + std::string(kProbe) + "\"");
  file_.emplace(options.path, mark);
  file_->read([&](SemanticScope scope, AnswerEntry entry, std::span<const float> unit) {
    last_id_ = std::max(last_id_, entry.id);
    table_.add(table_.partition(scope), std::move(entry), unit);
  });
  expire();
  make_room(0);
}

WallTime SemanticCache::Impl::now() const {
  return options.clock ? options.clock() : std::chrono::system_clock::now();
}

SemanticLookup SemanticCache::Impl::lookup(const SemanticQuery& query) {
  if (query.threshold && !(*query.threshold > 0 && *query.threshold <= 1)) {
    refuse("threshold",
           "expected more than 0 and at most 1, found " + std::to_string(*query.threshold));
  }
  SemanticLookup result;
  if (!look_at_text(query, result) && result.miss != SemanticMiss::kNothingStored) {
    look_at_meaning(query, result);
  }
  const std::unique_lock lock(mutex_);
  if (!result.hit && options.near_hits == NearHits::kDraft) add_draft(result);
  count(query, result);
  return result;
}

// The first two levels. True for a hit.
bool SemanticCache::Impl::look_at_text(const SemanticQuery& query, SemanticLookup& result) {
  const std::unique_lock lock(mutex_);
  expire();
  const AnswerPartition* partition = table_.find(query.scope);
  if (partition == nullptr) {
    result.miss = SemanticMiss::kNothingStored;
    return false;
  }
  if (const AnswerEntry* entry = partition->exact(exact_key(query.prompt, query.ids))) {
    return serve(entry->id, entry->prompt, AnswerSource::kExact, 1, result);
  }
  const std::string normal = normalized_question(query.prompt);
  const AnswerEntry* entry = normal.empty() ? nullptr : partition->normal(normal);
  if (entry == nullptr || entry->learned.wrong_score >= 1) return false;
  const Reading asked{read_utterance(query.prompt), {}};
  const Reading stored{read_utterance(entry->prompt), {}};
  if (auto refused = first_refusal(pair_words(asked, stored), guards_for(query))) {
    result.passed_over.push_back({entry->id, 1, options.threshold, entry->prompt, refused});
    return false;
  }
  return serve(entry->id, entry->prompt, AnswerSource::kNormalized, 1, result);
}

void SemanticCache::Impl::look_at_meaning(const SemanticQuery& query, SemanticLookup& result) {
  const Sight sight = see(*embedder, query.prompt);
  const bool allowed =
      query.unknown_tokens.value_or(options.unknown_tokens) == UnknownTokens::kAllow;
  if (sight.unit.empty() || (sight.blind == SemanticMiss::kUnknownTokens && !allowed)) {
    result.miss = sight.blind;
    return;
  }
  std::vector<Found> found;
  {
    const std::shared_lock lock(mutex_);
    found = shortlist(query, sight);
  }
  if (!allowed) {
    std::erase_if(found, [](const Found& f) { return f.blind == SemanticMiss::kUnknownTokens; });
  }
  choose(query, sight, found, result);
}

std::vector<SemanticCache::Impl::Found> SemanticCache::Impl::shortlist(const SemanticQuery& query,
                                                                       const Sight& sight) const {
  std::vector<Found> found;
  const AnswerPartition* partition = table_.find(query.scope);
  if (partition == nullptr) return found;
  const double least = query.threshold.value_or(options.threshold);
  for (const Near& near :
       partition->vectors.nearest(sight.unit, static_cast<std::size_t>(options.candidates))) {
    const AnswerEntry& entry = *partition->entries[near.row];
    if (entry.blind != SemanticMiss::kNone && entry.blind != SemanticMiss::kUnknownTokens) continue;
    const double threshold = learned_threshold(least, entry.learned.wrong_score);
    found.push_back(
        {{entry.id, near.score, threshold, entry.prompt, {}}, entry.blind, entry.states});
  }
  return found;
}

// The nearest candidate that no guard objects to.
void SemanticCache::Impl::choose(const SemanticQuery& query, const Sight& sight,
                                 const std::vector<Found>& found, SemanticLookup& result) {
  GuardSet guards;
  {
    const std::shared_lock lock(mutex_);
    guards = guards_for(query);
  }
  result.miss = found.empty() ? SemanticMiss::kNothingStored : SemanticMiss::kBelowThreshold;
  for (const Found& near : found) {
    if (near.candidate.score < found.front().candidate.score - kTrail) break;
    SemanticCandidate candidate = near.candidate;
    const bool enough = candidate.score >= candidate.threshold;
    if (!enough && !result.passed_over.empty()) continue;
    if (enough || candidate.score >= kNear) {
      const Reading stored{read_utterance(candidate.matched), *near.states};
      candidate.refused = first_refusal(pair_words(sight.reading, stored), guards);
    }
    if (enough && !candidate.refused) {
      const std::unique_lock lock(mutex_);
      if (serve(candidate.id, candidate.matched, AnswerSource::kSemantic, candidate.score,
                result)) {
        return;
      }
      continue;  // gone since the scan
    }
    if (enough) result.miss = SemanticMiss::kRefused;
    result.passed_over.push_back(std::move(candidate));
  }
}

bool SemanticCache::Impl::serve(std::uint64_t id, const std::string& prompt, AnswerSource level,
                                double score, SemanticLookup& result) {
  AnswerEntry* entry = table_.entry(id);
  if (entry == nullptr || entry->prompt != prompt) return false;
  const WallTime time = now();
  table_.touch(*entry, time, options.sliding_ttl);
  if (file_ && options.sliding_ttl) file_->update(*entry);
  entry->last_score = score;
  entry->last_semantic = level == AnswerSource::kSemantic;
  SemanticHit hit;
  static_cast<StoredAnswer&>(hit) = entry->answer;
  hit.id = id;
  hit.level = level;
  hit.score = score;
  hit.matched = entry->prompt;
  hit.age = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::max(time - entry->stored, WallTime::duration::zero()));  // the clock may have gone back
  result.hit = std::move(hit);
  result.miss = SemanticMiss::kNone;
  return true;
}

void SemanticCache::Impl::add_draft(SemanticLookup& result) {
  if (result.passed_over.empty()) return;
  const AnswerEntry* entry = table_.entry(result.passed_over.front().id);
  if (entry != nullptr) result.draft = entry->answer;
}

void SemanticCache::Impl::count(const SemanticQuery& query, const SemanticLookup& result) {
  AnswerPartition* partition = table_.find(query.scope);
  for (SemanticStats* stats : {&totals_, partition != nullptr ? &partition->stats : nullptr}) {
    if (stats == nullptr) continue;
    ++stats->lookups;
    for (const SemanticCandidate& candidate : result.passed_over) {
      const bool enough = candidate.score >= candidate.threshold;
      if (enough && candidate.refused)
        ++stats->refusals[static_cast<std::size_t>(candidate.refused->guard)];
    }
    if (!result.hit) {
      ++stats->misses[static_cast<std::size_t>(result.miss)];
    } else if (result.hit->level == AnswerSource::kExact) {
      ++stats->exact_hits;
    } else if (result.hit->level == AnswerSource::kNormalized) {
      ++stats->normalized_hits;
    } else {
      ++stats->semantic_hits;
    }
  }
}

GuardSet SemanticCache::Impl::guards_for(const SemanticQuery& query) const {
  if (query.guards) return *query.guards;
  const AnswerPartition* partition = table_.find(query.scope);
  return partition != nullptr && partition->guards ? *partition->guards : options.guards;
}

std::optional<std::uint64_t> SemanticCache::Impl::store(const SemanticEntry& given) {
  if (!is_reusable(given.answer)) return std::nullopt;
  if (given.keep.ttl && given.keep.ttl->count() <= 0) refuse("ttl", "expected more than 0");
  Sight sight = see(*embedder, given.prompt);
  AnswerEntry entry;
  entry.prompt = given.prompt;
  entry.ids = given.ids;
  entry.answer = given.answer;
  entry.tags = given.keep.tags;
  entry.blind = sight.blind;
  entry.states = std::make_shared<const WordStates>(std::move(sight.reading.states));
  entry.normal = normalized_question(given.prompt);
  entry.stored = now();
  entry.ttl = given.keep.ttl ? given.keep.ttl : options.ttl;
  if (entry.ttl) entry.expires = expiry_of(entry.stored, *entry.ttl);
  const auto alone = static_cast<std::int64_t>(
      entry.bytes() + static_cast<std::size_t>(embedder->dimension()) * sizeof(float));
  if (alone > options.max_bytes) return std::nullopt;

  const std::unique_lock lock(mutex_);
  expire();
  AnswerPartition& partition = table_.partition(given.scope);
  const AnswerEntry* found = partition.exact(exact_key(entry.prompt, entry.ids));
  const auto old = found != nullptr ? std::optional(found->id) : std::nullopt;
  entry.id = ++last_id_;
  // The file comes last of what may fail: it keeps what memory has.
  const AnswerEntry& added = table_.add(partition, std::move(entry), sight.unit);
  try {
    if (file_) file_->replace(old, given.scope, added, sight.unit);
  } catch (...) {
    old ? table_.remove(added.id, *old) : table_.remove(added.id);
    throw;
  }
  if (old) table_.remove(*old);
  ++totals_.stored;
  ++partition.stats.stored;
  make_room(last_id_);
  return table_.entry(last_id_) != nullptr ? std::optional(last_id_) : std::nullopt;
}

// Evicts until the bounds hold; the entry just stored goes last, and only when it alone is too
// much. Before it go the scopes that have no entries.
void SemanticCache::Impl::make_room(std::uint64_t kept) {
  const auto over = [&] {
    return table_.bytes() > options.max_bytes ||
           (options.max_entries > 0 && table_.entries() > options.max_entries);
  };
  while (over() && table_.entries() > 0) {
    const auto next = table_.next_to_evict(kept);
    if (!next && table_.forget_empty()) continue;
    const std::uint64_t victim = next.value_or(kept);
    ++table_.partition_of(victim).stats.evicted;
    ++totals_.evicted;
    drop({&victim, 1});
    if (victim == kept) return;
  }
}

void SemanticCache::Impl::expire() {
  const std::vector<std::uint64_t> ids = table_.expired(now());
  if (ids.empty()) return;
  for (const std::uint64_t id : ids) ++table_.partition_of(id).stats.expired;
  totals_.expired += std::ssize(ids);
  drop(ids);
}

void SemanticCache::Impl::drop(std::span<const std::uint64_t> ids) {
  if (file_ && !ids.empty()) file_->erase(ids);
  for (const std::uint64_t id : ids) table_.remove(id);
}

bool SemanticCache::Impl::report(std::uint64_t id, bool wrong, std::optional<double> score) {
  const std::unique_lock lock(mutex_);
  AnswerEntry* entry = table_.entry(id);
  if (entry == nullptr) return false;
  if (wrong && !score && !entry->last_semantic) {
    // The same question was answered wrong: nothing would make the answer right.
    drop({&id, 1});
    return true;
  }
  Learned learned = entry->learned;
  ++(wrong ? learned.wrong : learned.right);
  if (wrong) learned.wrong_score = std::max(learned.wrong_score, score.value_or(entry->last_score));
  std::swap(entry->learned, learned);
  try {
    if (file_) file_->update(*entry);
  } catch (...) {
    entry->learned = learned;
    throw;
  }
  if (entry->last_semantic || score) {
    for (SemanticStats* stats : {&totals_, &table_.partition_of(id).stats}) {
      quire::report(stats->semantic_errors, wrong);
    }
  }
  return true;
}

bool SemanticCache::Impl::remove(std::uint64_t id) {
  const std::unique_lock lock(mutex_);
  if (table_.entry(id) == nullptr) return false;
  drop({&id, 1});
  return true;
}

std::int64_t SemanticCache::Impl::invalidate(std::string_view tag) {
  const std::unique_lock lock(mutex_);
  const std::vector<std::uint64_t> ids = table_.tagged(tag);
  drop(ids);
  return std::ssize(ids);
}

void SemanticCache::Impl::clear() {
  const std::unique_lock lock(mutex_);
  drop(table_.all());
}

void SemanticCache::Impl::set_guards(const SemanticScope& scope, const GuardSet& guards) {
  const std::unique_lock lock(mutex_);
  table_.partition(scope).guards = guards;
}

SemanticStats SemanticCache::Impl::stats(const SemanticScope* scope) const {
  const std::shared_lock lock(mutex_);
  SemanticStats stats = totals_;
  stats.entries = table_.entries();
  if (scope != nullptr) {
    const AnswerPartition* partition = table_.find(*scope);
    stats = partition != nullptr ? partition->stats : SemanticStats{};
  }
  stats.bytes = table_.bytes();
  return stats;
}

void SemanticCache::Impl::verify() {
  const std::unique_lock lock(mutex_);
  if (file_) file_->verify(table_.all());
}

}  // namespace quire
