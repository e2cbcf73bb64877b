// SPDX-License-Identifier: Apache-2.0
#include <quire/answer_cache.h>
#include <quire/error.h>

#include <algorithm>
#include <atomic>
#include <span>
#include <utility>
#include <vector>

#include "io/saturate.h"
#include "semantic/answer_table.h"
#include "semantic/checked_bytes.h"
#include "semantic/single_flight.h"

namespace quire {
namespace {

using std::chrono::milliseconds;

// An answer as the levels hold it. Times are of the system's clock, since machines share them.
struct Kept {
  StoredAnswer answer;
  milliseconds stored{0};   // since 1970
  milliseconds expires{0};  // 0: never
};

milliseconds checked(milliseconds ttl) {
  if (ttl.count() > 0) return ttl;
  throw Error(ErrorCode::kInvalidArgument, "ttl",
              "expected more than 0 ms, found " + std::to_string(ttl.count()));
}

// The third level: answers as bytes.
class SharedAnswers final : public CacheLevel<std::string, Kept> {
 public:
  explicit SharedAnswers(std::shared_ptr<CacheLevel<std::string, std::string>> bytes)
      : bytes_(std::move(bytes)) {}

  std::optional<Kept> get(const std::string& key) override {
    const auto bytes = bytes_->get(key);
    if (!bytes) return std::nullopt;
    CheckedReader in(kFormat, std::as_bytes(std::span(*bytes)));
    Kept kept;
    kept.answer.response = in.list<std::string>();
    kept.answer.ids = in.list<TokenIds>();
    kept.answer.finish_reason = static_cast<FinishReason>(in.number<std::int32_t>());
    kept.answer.stop = in.list<std::string>();
    kept.stored = milliseconds(in.number<std::int64_t>());
    kept.expires = milliseconds(in.number<std::int64_t>());
    if (in.sound() && is_reusable(kept.answer)) return kept;
    throw Error(ErrorCode::kCorrupt, "shared", "expected an answer, found other bytes");
  }

  void put(const std::string& key, const Kept& kept) override {
    CheckedWriter out(kFormat);
    out.list(kept.answer.response);
    out.list(kept.answer.ids);
    out.number(static_cast<std::int32_t>(kept.answer.finish_reason));
    out.list(kept.answer.stop);
    out.number(std::int64_t{kept.stored.count()});
    out.number(std::int64_t{kept.expires.count()});
    const std::vector<std::byte> bytes = out.finish();
    bytes_->put(key, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }

  void erase(const std::string& key) override { bytes_->erase(key); }

 private:
  static constexpr std::uint64_t kFormat = 1;  // seeds the checksum
  std::shared_ptr<CacheLevel<std::string, std::string>> bytes_;
};

std::shared_ptr<SharedAnswers> as_level(
    const std::shared_ptr<CacheLevel<std::string, std::string>>& bytes) {
  return bytes ? std::make_shared<SharedAnswers>(bytes) : nullptr;
}

std::string key_of(const SemanticScope& scope, const std::string& prompt, const TokenIds& ids) {
  return scope_key(scope) + exact_key(prompt, ids);
}

}  // namespace

struct AnswerCache::Impl {
  explicit Impl(const AnswerCacheOptions& given)
      : options(given), levels(given.levels, as_level(given.shared)) {
    if (options.ttl) checked(*options.ttl);
  }

  milliseconds now() const {
    const auto time = options.clock ? options.clock() : std::chrono::system_clock::now();
    return std::chrono::duration_cast<milliseconds>(time.time_since_epoch());
  }

  std::optional<CachedAnswer> find(const std::string& key) {
    auto kept = levels.get(key);
    if (!kept) return std::nullopt;
    const milliseconds time = now();
    if (kept->expires.count() > 0 && kept->expires <= time) {
      levels.erase(key);
      ++expired;
      return std::nullopt;
    }
    CachedAnswer found{std::move(kept->answer)};
    found.age = std::max(time - kept->stored, milliseconds(0));
    return found;
  }

  bool keep(const std::string& key, const StoredAnswer& answer, std::optional<milliseconds> ttl) {
    if (!is_reusable(answer)) return false;
    if (!ttl) ttl = options.ttl;
    Kept kept{.answer = answer, .stored = now()};
    if (ttl) {
      kept.expires = milliseconds(saturating_sum(kept.stored.count(), checked(*ttl).count()));
    }
    levels.put(key, std::move(kept));
    ++stored;
    return true;
  }

  const AnswerCacheOptions options;
  TieredCache<std::string, Kept> levels;
  SingleFlight<CachedAnswer> flights;
  std::atomic<std::int64_t> stored = 0;
  std::atomic<std::int64_t> expired = 0;
};

AnswerCache::AnswerCache(const AnswerCacheOptions& options)
    : impl_(std::make_unique<Impl>(options)) {}

AnswerCache::~AnswerCache() = default;

std::optional<CachedAnswer> AnswerCache::lookup(const SemanticQuery& query) {
  return impl_->find(key_of(query.scope, query.prompt, query.ids));
}

bool AnswerCache::store(const SemanticEntry& entry) {
  return entry.keep.tags.empty() &&
         impl_->keep(key_of(entry.scope, entry.prompt, entry.ids), entry.answer, entry.keep.ttl);
}

CachedAnswer AnswerCache::get_or_compute(
    const SemanticQuery& query, const std::function<StoredAnswer()>& compute,
    std::optional<std::chrono::steady_clock::time_point> deadline,
    std::optional<milliseconds> ttl) {
  if (ttl) checked(*ttl);
  const std::string key = key_of(query.scope, query.prompt, query.ids);
  const auto work = [&]() -> std::pair<std::optional<CachedAnswer>, bool> {
    if (auto found = impl_->find(key)) return {std::move(found), true};
    CachedAnswer answer{compute()};
    const bool kept = impl_->keep(key, answer, ttl);
    answer.computed = true;
    const bool shared = kept || is_cut_off(answer);
    return {std::move(answer), shared};
  };
  auto outcome = impl_->flights.run(key, deadline, work);
  CachedAnswer answer;
  if (outcome.value) {
    answer = *std::move(outcome.value);
    answer.computed = answer.computed && !outcome.waited;
  } else {
    answer.finish_reason = FinishReason::kDeadline;
  }
  answer.waited = outcome.waited;
  return answer;
}

bool AnswerCache::erase(const SemanticQuery& query) {
  return impl_->levels.erase(key_of(query.scope, query.prompt, query.ids));
}

void AnswerCache::clear() { impl_->levels.clear(); }

AnswerCacheStats AnswerCache::stats() const {
  return {.levels = impl_->levels.stats(), .stored = impl_->stored, .expired = impl_->expired};
}

}  // namespace quire
