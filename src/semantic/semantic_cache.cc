// SPDX-License-Identifier: Apache-2.0
#include <quire/embedder.h>
#include <quire/error.h>
#include <quire/semantic_cache.h>

#include <utility>

#include "semantic/semantic_impl.h"

namespace quire {

std::string_view to_string(SemanticMiss miss) {
  switch (miss) {
    case SemanticMiss::kNone:
      return "none";
    case SemanticMiss::kNothingStored:
      return "nothing_stored";
    case SemanticMiss::kBelowThreshold:
      return "below_threshold";
    case SemanticMiss::kRefused:
      return "refused";
    case SemanticMiss::kUnknownTokens:
      return "unknown_tokens";
    case SemanticMiss::kTooLong:
      return "too_long";
    case SemanticMiss::kEmptyText:
      return "empty_text";
    case SemanticMiss::kBadNumber:
      break;
  }
  return "bad_number";
}

std::string_view SemanticLookup::reason() const {
  if (miss == SemanticMiss::kRefused || miss == SemanticMiss::kBelowThreshold) {
    for (const SemanticCandidate& candidate : passed_over) {
      if (candidate.refused) return to_string(candidate.refused->guard);
    }
  }
  return to_string(miss);
}

SemanticCache::SemanticCache(std::shared_ptr<const Embedder> embedder,
                             const SemanticCacheOptions& options) {
  if (!embedder) throw Error(ErrorCode::kInvalidArgument, "embedder", "expected one, found null");
  impl_ = std::make_unique<Impl>(std::move(embedder), options);
}

SemanticCache::~SemanticCache() = default;

SemanticLookup SemanticCache::lookup(const SemanticQuery& query) { return impl_->lookup(query); }

SemanticLookup SemanticCache::lookup(std::string_view prompt, const SemanticScope& scope) {
  return impl_->lookup({.prompt = std::string(prompt), .scope = scope});
}

std::optional<std::uint64_t> SemanticCache::store(const SemanticEntry& entry) {
  return impl_->store(entry);
}

std::optional<std::uint64_t> SemanticCache::store(std::string_view prompt,
                                                  std::string_view response,
                                                  const SemanticScope& scope) {
  return impl_->store({.prompt = std::string(prompt),
                       .answer = {.response = std::string(response)},
                       .scope = scope});
}

SemanticResult SemanticCache::get_or_compute(
    const SemanticQuery& query,
    const std::function<StoredAnswer(const SemanticLookup& missed)>& compute,
    std::optional<std::chrono::steady_clock::time_point> deadline, const SemanticKeep& keep) {
  SemanticResult result;
  result.lookup = impl_->lookup(query);
  if (result.lookup) {
    static_cast<StoredAnswer&>(result) = *result.lookup;
    result.source = result.lookup->level;
    return result;
  }
  const std::string key = scope_key(query.scope) + exact_key(query.prompt, query.ids);
  const auto work = [&]() -> std::pair<std::optional<StoredAnswer>, bool> {
    // Another caller may have stored the answer after our look-up and before our turn.
    if (SemanticLookup since; impl_->look_at_text(query, since)) {
      result.lookup = std::move(since);
      result.source = result.lookup->level;
      return {*result.lookup, true};
    }
    StoredAnswer answer = compute(result.lookup);
    const auto id = impl_->store({.prompt = query.prompt,
                                  .answer = answer,
                                  .ids = query.ids,
                                  .scope = query.scope,
                                  .keep = keep});
    const bool shared = id.has_value() || is_cut_off(answer);
    return {std::move(answer), shared};
  };
  auto outcome = impl_->flights.run(key, deadline, work);
  result.waited = outcome.waited;
  if (outcome.value) {
    static_cast<StoredAnswer&>(result) = *std::move(outcome.value);
    if (result.waited) result.source = AnswerSource::kExact;
  } else {
    result.finish_reason = FinishReason::kDeadline;
  }
  return result;
}

bool SemanticCache::report_wrong(std::uint64_t id, std::optional<double> score) {
  return impl_->report(id, true, score);
}

bool SemanticCache::report_right(std::uint64_t id) { return impl_->report(id, false, {}); }

bool SemanticCache::remove(std::uint64_t id) { return impl_->remove(id); }

std::int64_t SemanticCache::invalidate(std::string_view tag) { return impl_->invalidate(tag); }

void SemanticCache::clear() { impl_->clear(); }

void SemanticCache::set_guards(const SemanticScope& scope, const GuardSet& guards) {
  impl_->set_guards(scope, guards);
}

SemanticStats SemanticCache::stats() const { return impl_->stats(nullptr); }

SemanticStats SemanticCache::stats(const SemanticScope& scope) const {
  return impl_->stats(&scope);
}

void SemanticCache::verify() const { impl_->verify(); }

const Embedder& SemanticCache::embedder() const { return *impl_->embedder; }

}  // namespace quire
