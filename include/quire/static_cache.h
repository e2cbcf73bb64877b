// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <memory>
#include <string_view>

namespace quire {

struct StaticCacheOptions {
  std::int64_t max_length = 0;  // tokens; must be given
};

// A KV cache in one allocation, made up front: keys and values never move and never grow. What does
// not fit is refused by prepare, Error kContextOverflow, before anything changes. Layers with a
// window are kept whole, so every truncation is possible. fork() copies the tokens that are here.
//
// The constructor throws Error kInvalidArgument or kOutOfMemory.
//
// Thread-safety: as KvCache.
class QUIRE_EXPORT StaticCache final : public KvCache {
 public:
  StaticCache(const KvSpec& spec, const StaticCacheOptions& options);
  ~StaticCache() override;

  std::string_view kind() const override { return "static"; }
  std::int64_t length() const override;
  std::int64_t capacity() const override;
  void truncate(std::int64_t n) override;
  void reset() override;  // the allocation stays
  std::unique_ptr<KvCache> clone() const override;

  // The whole allocation, filled or not.
  std::int64_t bytes() const override;

  // Where the allocation begins.
  const void* data() const;

  void prepare(std::int64_t n) override;
  void attend(const Attention& attention) override;
  void commit() override;
  void rollback() override;

 private:
  friend struct CacheAccess;
  struct Impl;
  explicit StaticCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
