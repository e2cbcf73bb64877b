// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/prefix_scope.h>
#include <quire/token.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

class Model;

// What a snapshot is made of.
struct SnapshotParts {
  PrefixModel model = {};                    // that filled the cache
  PrefixScope scope = {};                    // whose text it is
  std::optional<std::string> text = {};      // if the ids are those of one text
  TokenIds ids = {};                         // what the cache holds
  std::vector<float> logits = {};            // after the last of them, [V]; empty: not kept
  std::unique_ptr<KvCache> cache = nullptr;  // of any class
  std::string note = {};                     // the application's own, kept with it
};

// When the checksums of a file's pages are looked at; the rest always is while loading.
enum class Verify {
  kAtLoad,
  kOnUse,  // at the first fork that needs a page: a bad one is Error kCorrupt there
};

struct SnapshotLoadOptions {
  PrefixScope scope = {};  // that it was saved with
  Verify verify = Verify::kAtLoad;
};

// A prompt that has been computed: its keys and values, frozen, with its text, ids and the logits
// after its last token. Requests continue it on forks of their own (Request::snapshot); it never
// changes. Generator::prefill and PromptCache::prefill make one.
//
// A handle: copies are the same snapshot, and one made without parts is none.
//
// Thread-safety: immutable; every method may be called concurrently.
class QUIRE_EXPORT Snapshot {
 public:
  Snapshot();
  // Throws Error kInvalidArgument unless the cache holds exactly the ids, at least one.
  explicit Snapshot(SnapshotParts parts);
  ~Snapshot();
  Snapshot(const Snapshot&);
  Snapshot(Snapshot&&) noexcept;
  Snapshot& operator=(const Snapshot&);
  Snapshot& operator=(Snapshot&&) noexcept;

  explicit operator bool() const { return frozen_ != nullptr; }

  // REQUIRES of what follows: there is a snapshot.
  const PrefixModel& model() const;
  const PrefixScope& scope() const;
  const std::optional<std::string>& text() const;
  std::span<const TokenId> ids() const;
  std::span<const float> logits() const;  // after the last token, [V]; empty: not kept
  const std::string& note() const;
  std::string_view kind() const;  // of the cache
  std::int64_t capacity() const;
  std::int64_t bytes() const;  // of keys and values, pages that others share included

  // Whether fork(n) gives a cache.
  bool can_fork(std::int64_t n) const;

  // A cache of the first n tokens, which shares what its class can share until it writes. Null
  // where the class cannot go back that far: a window has moved on, or pages have been coded.
  // n = 0 gives an empty cache of the same class.
  std::unique_ptr<KvCache> fork(std::int64_t n) const;

  // Writes it to a file, which appears complete or not at all and takes the place of one that is
  // there. The logits are left out where they would add more than a hundredth to it and the last
  // token can be computed again. Throws Error kIo, kNotFound (no such folder), or kUnsupported for
  // a cache class of the caller's own or on a device other than the CPU.
  void save(const std::filesystem::path& path) const;

  // Maps a saved snapshot: its pages are read where they lie, by every process that maps the file.
  // Replace such a file by a new one of its name, as save does; never write into it.
  // Throws Error: kInvalidArgument for one of another model, tokenizer, dtype or scope, naming what
  // differs; kUnsupported for another version; kCorrupt for a file that was cut off or changed;
  // kNotFound, kIo.
  static Snapshot load(const std::filesystem::path& path, const Model& model,
                       const SnapshotLoadOptions& options = {});
  static Snapshot load(const std::filesystem::path& path, const PrefixModel& model,
                       const SnapshotLoadOptions& options = {});

  bool operator==(const Snapshot& other) const { return frozen_ == other.frozen_; }

 private:
  struct Frozen;
  std::shared_ptr<const Frozen> frozen_;
};

}  // namespace quire
