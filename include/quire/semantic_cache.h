// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/semantic_answer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace quire {

class Embedder;

enum class NearHits {
  kMiss,   // a near text is no reason for anything
  kDraft,  // its answer comes back as SemanticLookup::draft, for a model to verify
};

enum class SemanticEviction { kLru, kLfu, kFifo };

struct SemanticCacheOptions {
  double threshold = 0.95;  // least cosine of a semantic hit
  int candidates = 8;       // nearest texts that the guards look at
  GuardSet guards = {};
  UnknownTokens unknown_tokens = UnknownTokens::kRefuse;
  NearHits near_hits = NearHits::kMiss;
  std::int64_t max_bytes = 256ll << 20;
  std::int64_t max_entries = 0;  // 0: as many as fit
  SemanticEviction eviction = SemanticEviction::kLru;
  std::optional<std::chrono::milliseconds> ttl = std::nullopt;  // counted from storing
  bool sliding_ttl = false;                                     // from the latest hit
  // A SQLite file that keeps the entries from one process to the next; empty: memory only. One
  // process at a time.
  std::filesystem::path path = {};
  // The encoder's name in that file; empty: Embedder::name().
  std::string encoder = {};
  // The time, for tests; empty: the system's clock.
  std::function<std::chrono::system_clock::time_point()> clock = {};
};

// Answers by what was asked, at three levels: the same text (or token ids), the same text up to
// spaces, case and final . or !, and a text of nearly the same meaning. At the last two, guards
// may refuse for named reasons: no cosine tells "enable" from "disable".
//
//   SemanticCache answers(Embedder::load("all-MiniLM-L6-v2/"));
//   answers.store("How do I reset my password?", "Open Settings …");
//   if (auto hit = answers.lookup("How can I reset my password?")) use(hit->response);
//
// The shortlist is an exact scan. A candidate that trails the nearest one by more than 0.04 is not
// looked at: what the nearest text does not answer, a farther one answers even less. The entries'
// own thresholds rise above every score that was reported wrong (compare verified semantic caching,
// arXiv 2502.03771).
//
// Thread-safety: all methods may be called concurrently. Texts are embedded outside any lock.
class QUIRE_EXPORT SemanticCache {
 public:
  // Throws Error: kInvalidArgument (options; a file of another encoder), kCorrupt, kIo (the file;
  // also when another process has it open).
  explicit SemanticCache(std::shared_ptr<const Embedder> embedder,
                         const SemanticCacheOptions& options = {});
  ~SemanticCache();
  SemanticCache(const SemanticCache&) = delete;
  SemanticCache& operator=(const SemanticCache&) = delete;

  SemanticLookup lookup(const SemanticQuery& query);
  SemanticLookup lookup(std::string_view prompt, const SemanticScope& scope = {});

  // Returns the entry's id; an equal prompt of the same scope is replaced. Nothing is stored, and
  // nothing returned, for an answer that is empty, cut off (kLength), cancelled or late, or an
  // entry that alone is over max_bytes. With a file, every method that changes entries throws Error
  // kIo when it cannot be written; the entries are then as before.
  std::optional<std::uint64_t> store(const SemanticEntry& entry);
  std::optional<std::uint64_t> store(std::string_view prompt, std::string_view response,
                                     const SemanticScope& scope = {});

  // Looks up and, on a miss, computes and stores; `compute` sees the look-up. Concurrent callers
  // who miss with the same prompt in the same scope wait for the first; when it fails, its
  // exception reaches its own caller and the next one computes. Who waits past its deadline gets an
  // empty answer with kDeadline.
  SemanticResult get_or_compute(
      const SemanticQuery& query,
      const std::function<StoredAnswer(const SemanticLookup& missed)>& compute,
      std::optional<std::chrono::steady_clock::time_point> deadline = std::nullopt,
      const SemanticKeep& keep = {});

  // What a caller learned about the entry's latest semantic hit, or about a hit of the given score.
  // Wrong: the entry no longer serves texts as far as that one. False if there is no such entry.
  bool report_wrong(std::uint64_t id, std::optional<double> score = std::nullopt);
  bool report_right(std::uint64_t id);

  bool remove(std::uint64_t id);
  std::int64_t invalidate(std::string_view tag);  // returns how many entries went
  void clear();

  // Switches guards for one scope, whatever the options say.
  void set_guards(const SemanticScope& scope, const GuardSet& guards);

  SemanticStats stats() const;
  SemanticStats stats(const SemanticScope& scope) const;  // zeros for an unknown one

  // Checks the file: its structure, every row's checksum, and that it holds what memory holds.
  // Throws Error kCorrupt naming what is wrong. Without a file nothing can be.
  void verify() const;

  const Embedder& embedder() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
