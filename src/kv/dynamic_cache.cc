// SPDX-License-Identifier: Apache-2.0
#include <quire/dynamic_cache.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "kv/cache_access.h"
#include "kv/dynamic_impl.h"

namespace quire {

DynamicCache::DynamicCache(const KvSpec& spec, const PagePoolOptions& options)
    : DynamicCache(std::make_shared<PagePool>(spec, options)) {}

DynamicCache::DynamicCache(std::shared_ptr<PagePool> pool)
    : impl_(std::make_unique<Impl>(PagedSequence(std::move(pool)))) {}

DynamicCache::DynamicCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DynamicCache::~DynamicCache() = default;

std::int64_t DynamicCache::length() const { return impl_->sequence.length(); }
void DynamicCache::truncate(std::int64_t n) { impl_->sequence.truncate(n); }
bool DynamicCache::can_truncate(std::int64_t n) const { return impl_->sequence.can_truncate(n); }
void DynamicCache::reset() { truncate(0); }

std::unique_ptr<KvCache> DynamicCache::clone() const {
  auto impl = std::make_unique<Impl>(impl_->sequence.clone());
  return std::unique_ptr<KvCache>(new DynamicCache(std::move(impl)));
}

std::unique_ptr<KvCache> DynamicCache::fork() const {
  auto impl = std::make_unique<Impl>(impl_->sequence.fork());
  return std::unique_ptr<KvCache>(new DynamicCache(std::move(impl)));
}

std::unique_ptr<KvCache> DynamicCache::checkpoint() const {
  const std::vector<KvLayer>& layers = pool()->spec().layers;
  const bool windowed = std::any_of(layers.begin(), layers.end(),
                                    [](const KvLayer& layer) { return layer.window > 0; });
  return windowed ? fork() : nullptr;
}

void DynamicCache::restore(KvCache& checkpoint) {
  impl_->sequence = std::move(dynamic_cast<DynamicCache&>(checkpoint).impl_->sequence);
}

std::int64_t DynamicCache::bytes() const { return impl_->sequence.bytes(); }
std::int64_t DynamicCache::shared_bytes() const { return impl_->sequence.shared_bytes(); }
const std::shared_ptr<PagePool>& DynamicCache::pool() const { return impl_->sequence.pool(); }

CacheParts CacheAccess::parts(const DynamicCache& cache) {
  CacheParts parts = cache.impl_->sequence.parts();
  parts.kind = cache.kind();
  parts.options["block_size"] = cache.pool()->block_size();
  return parts;
}

std::unique_ptr<KvCache> CacheAccess::dynamic(const KvSpec& spec, PartsReader& parts) {
  auto pool =
      std::make_shared<PagePool>(spec, PagePoolOptions{.block_size = parts.option("block_size")});
  auto impl = std::make_unique<DynamicCache::Impl>(PagedSequence(std::move(pool), parts));
  return std::unique_ptr<KvCache>(new DynamicCache(std::move(impl)));
}

void DynamicCache::prepare(std::int64_t n) { impl_->sequence.prepare(n); }
void DynamicCache::attend(const Attention& attention) { impl_->sequence.attend(attention); }
void DynamicCache::commit() { impl_->sequence.commit(); }
void DynamicCache::rollback() { impl_->sequence.rollback(); }

}  // namespace quire
