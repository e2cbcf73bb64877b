// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/page_pool.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quire {

struct SlidingCacheOptions {
  std::int64_t window = 0;  // tokens a token attends to, itself included; must be given
  PagePoolOptions pages = {};
};

// A KV cache of a window: in every layer a token attends to the last `window` tokens, or to fewer
// where the model's own window is smaller, and pages of older tokens are given back. While the text
// is no longer than the window the results are a DynamicCache's, to the bit; after that they are
// another model's, as the caller asked.
//
// Memory is bounded: window + 2 block_size tokens, and those of one pass. The last block_size
// tokens can always be dropped; can_truncate tells how much more.
//
// The constructor throws Error kInvalidArgument.
//
// Thread-safety: as KvCache; forks share pages and may be used on different threads.
class QUIRE_EXPORT SlidingCache final : public KvCache {
 public:
  SlidingCache(const KvSpec& spec, const SlidingCacheOptions& options);
  ~SlidingCache() override;

  const SlidingCacheOptions& options() const;

  std::string_view kind() const override { return "sliding"; }
  std::int64_t length() const override;  // of the text, dropped tokens included
  void truncate(std::int64_t n) override;
  bool can_truncate(std::int64_t n) const override;
  void reset() override;
  std::unique_ptr<KvCache> clone() const override;
  std::unique_ptr<KvCache> fork() const override;
  std::unique_ptr<KvCache> checkpoint() const override;
  void restore(KvCache& checkpoint) override;
  std::int64_t bytes() const override;

  void prepare(std::int64_t n) override;
  void attend(const Attention& attention) override;
  void commit() override;
  void rollback() override;

 private:
  friend struct CacheAccess;
  struct Impl;
  explicit SlidingCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
