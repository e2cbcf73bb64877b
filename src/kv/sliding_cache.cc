// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>
#include <quire/sliding_cache.h>

#include <algorithm>
#include <string>
#include <utility>

#include "kv/cache_access.h"
#include "kv/paged_sequence.h"

namespace quire {
namespace {

KvSpec with_window(KvSpec spec, std::int64_t window) {
  if (window < 1) {
    throw Error(ErrorCode::kInvalidArgument, "SlidingCacheOptions::window",
                "expected 1 or more tokens, found " + std::to_string(window));
  }
  for (KvLayer& layer : spec.layers) {
    layer.window = layer.window > 0 ? std::min(layer.window, window) : window;
  }
  return spec;
}

}  // namespace

struct SlidingCache::Impl {
  SlidingCacheOptions options;
  PagedSequence sequence;
};

SlidingCache::SlidingCache(const KvSpec& spec, const SlidingCacheOptions& options)
    : SlidingCache(std::make_unique<Impl>(
          options, PagedSequence(std::make_shared<PagePool>(with_window(spec, options.window),
                                                            options.pages)))) {}

SlidingCache::SlidingCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SlidingCache::~SlidingCache() = default;

const SlidingCacheOptions& SlidingCache::options() const { return impl_->options; }
std::int64_t SlidingCache::length() const { return impl_->sequence.length(); }
void SlidingCache::truncate(std::int64_t n) { impl_->sequence.truncate(n); }
bool SlidingCache::can_truncate(std::int64_t n) const { return impl_->sequence.can_truncate(n); }
void SlidingCache::reset() { truncate(0); }

std::unique_ptr<KvCache> SlidingCache::clone() const {
  auto impl = std::make_unique<Impl>(impl_->options, impl_->sequence.clone());
  return std::unique_ptr<KvCache>(new SlidingCache(std::move(impl)));
}

std::unique_ptr<KvCache> SlidingCache::fork() const {
  auto impl = std::make_unique<Impl>(impl_->options, impl_->sequence.fork());
  return std::unique_ptr<KvCache>(new SlidingCache(std::move(impl)));
}

std::unique_ptr<KvCache> SlidingCache::checkpoint() const { return fork(); }

void SlidingCache::restore(KvCache& checkpoint) {
  impl_ = std::move(dynamic_cast<SlidingCache&>(checkpoint).impl_);
}

std::int64_t SlidingCache::bytes() const { return impl_->sequence.bytes(); }

CacheParts CacheAccess::parts(const SlidingCache& cache) {
  CacheParts parts = cache.impl_->sequence.parts();
  parts.kind = cache.kind();
  parts.options["window"] = cache.options().window;
  parts.options["block_size"] = cache.options().pages.block_size;
  return parts;
}

std::unique_ptr<KvCache> CacheAccess::sliding(const KvSpec& spec, PartsReader& parts) {
  const SlidingCacheOptions options{.window = parts.option("window"),
                                    .pages = {.block_size = parts.option("block_size")}};
  auto pool = std::make_shared<PagePool>(with_window(spec, options.window), options.pages);
  auto impl = std::make_unique<SlidingCache::Impl>(options, PagedSequence(std::move(pool), parts));
  return std::unique_ptr<KvCache>(new SlidingCache(std::move(impl)));
}

void SlidingCache::prepare(std::int64_t n) { impl_->sequence.prepare(n); }
void SlidingCache::attend(const Attention& attention) { impl_->sequence.attend(attention); }
void SlidingCache::commit() { impl_->sequence.commit(); }
void SlidingCache::rollback() { impl_->sequence.rollback(); }

}  // namespace quire
