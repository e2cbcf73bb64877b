// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/page_pool.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quire {

// A KV cache that grows by pages. fork() copies the page tables and shares the pages; a write to a
// shared page copies that page. Layers with a window drop pages that no later token can attend to.
//
// Thread-safety: as KvCache; forks may be used on different threads.
class QUIRE_EXPORT DynamicCache final : public KvCache {
 public:
  // With a pool of its own, or with pages from a pool that is shared.
  explicit DynamicCache(const KvSpec& spec, const PagePoolOptions& options = {});
  explicit DynamicCache(std::shared_ptr<PagePool> pool);
  ~DynamicCache() override;

  std::string_view kind() const override { return "dynamic"; }
  std::int64_t length() const override;
  void truncate(std::int64_t n) override;
  bool can_truncate(std::int64_t n) const override;
  void reset() override;
  std::unique_ptr<KvCache> clone() const override;
  std::unique_ptr<KvCache> fork() const override;
  std::unique_ptr<KvCache> checkpoint() const override;
  void restore(KvCache& checkpoint) override;
  std::int64_t bytes() const override;

  // The part of bytes() that other caches hold too.
  std::int64_t shared_bytes() const;

  const std::shared_ptr<PagePool>& pool() const;

  void prepare(std::int64_t n) override;
  void attend(const Attention& attention) override;
  void commit() override;
  void rollback() override;

 private:
  friend struct CacheAccess;
  friend struct SharedBlocks;
  struct Impl;
  explicit DynamicCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
