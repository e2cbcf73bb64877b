// SPDX-License-Identifier: Apache-2.0
// A cache class of a caller's own: a DynamicCache that counts the tokens it was given.
#pragma once

#include <quire/dynamic_cache.h>

#include <atomic>
#include <memory>
#include <utility>

namespace quire::test {

class CountingCache final : public KvCache {
 public:
  using Count = std::shared_ptr<std::atomic<std::int64_t>>;

  CountingCache(std::unique_ptr<KvCache> cache, Count count)
      : cache_(std::move(cache)), count_(std::move(count)) {}

  std::string_view kind() const override { return "counting"; }
  std::int64_t length() const override { return cache_->length(); }
  void truncate(std::int64_t n) override { cache_->truncate(n); }
  std::int64_t bytes() const override { return cache_->bytes(); }
  std::unique_ptr<KvCache> clone() const override {
    return std::make_unique<CountingCache>(cache_->clone(), count_);
  }
  std::unique_ptr<KvCache> fork() const override {
    return std::make_unique<CountingCache>(cache_->fork(), count_);
  }
  void prepare(std::int64_t n) override {
    cache_->prepare(n);
    *count_ += n;
  }
  void attend(const Attention& attention) override { cache_->attend(attention); }
  void commit() override { cache_->commit(); }
  void rollback() override { cache_->rollback(); }

 private:
  std::unique_ptr<KvCache> cache_;
  Count count_;
};

}  // namespace quire::test
