// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace quire::test {

// A caller's own cache that tells of every pass.
class WatchedCache final : public KvCache {
 public:
  using Watch = std::function<void(std::int64_t tokens)>;  // 0: the pass is over

  WatchedCache(std::unique_ptr<KvCache> cache, Watch watch)
      : cache_(std::move(cache)), watch_(std::move(watch)) {}

  std::int64_t length() const override { return cache_->length(); }
  void truncate(std::int64_t n) override { cache_->truncate(n); }
  std::unique_ptr<KvCache> clone() const override {
    return std::make_unique<WatchedCache>(cache_->clone(), watch_);
  }
  void prepare(std::int64_t n) override {
    cache_->prepare(n);
    watch_(n);
  }
  void attend(const Attention& attention) override { cache_->attend(attention); }
  void commit() override {
    cache_->commit();
    watch_(0);
  }
  void rollback() override { cache_->rollback(); }

 private:
  std::unique_ptr<KvCache> cache_;
  Watch watch_;
};

}  // namespace quire::test
