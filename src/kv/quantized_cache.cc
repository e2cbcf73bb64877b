// SPDX-License-Identifier: Apache-2.0
#include <quire/quantized_cache.h>

#include <utility>

#include "kv/cache_access.h"
#include "kv/coded_sequence.h"

namespace quire {

struct QuantizedCache::Impl {
  CodedSequence sequence;
};

QuantizedCache::QuantizedCache(const KvSpec& spec, const QuantizedCacheOptions& options)
    : QuantizedCache(std::make_unique<Impl>(CodedSequence(spec, options))) {}

QuantizedCache::QuantizedCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

QuantizedCache::~QuantizedCache() = default;

const QuantizedCacheOptions& QuantizedCache::options() const { return impl_->sequence.options(); }
std::int64_t QuantizedCache::length() const { return impl_->sequence.length(); }
void QuantizedCache::truncate(std::int64_t n) { impl_->sequence.truncate(n); }
bool QuantizedCache::can_truncate(std::int64_t n) const { return impl_->sequence.can_truncate(n); }
void QuantizedCache::reset() { truncate(0); }

std::unique_ptr<KvCache> QuantizedCache::clone() const {
  auto impl = std::make_unique<Impl>(impl_->sequence.clone());
  return std::unique_ptr<KvCache>(new QuantizedCache(std::move(impl)));
}

std::unique_ptr<KvCache> QuantizedCache::fork() const {
  auto impl = std::make_unique<Impl>(impl_->sequence.fork());
  return std::unique_ptr<KvCache>(new QuantizedCache(std::move(impl)));
}

std::unique_ptr<KvCache> QuantizedCache::checkpoint() const { return fork(); }

void QuantizedCache::restore(KvCache& checkpoint) {
  impl_ = std::move(dynamic_cast<QuantizedCache&>(checkpoint).impl_);
}

std::int64_t QuantizedCache::bytes() const { return impl_->sequence.bytes(); }
std::int64_t QuantizedCache::shared_bytes() const { return impl_->sequence.shared_bytes(); }

CacheParts CacheAccess::parts(const QuantizedCache& cache) {
  CacheParts parts = cache.impl_->sequence.parts();
  parts.kind = cache.kind();
  parts.options["nbits"] = cache.options().nbits;
  parts.options["q_group_size"] = cache.options().q_group_size;
  parts.options["residual_length"] = cache.options().residual_length;
  return parts;
}

std::unique_ptr<KvCache> CacheAccess::quantized(const KvSpec& spec, PartsReader& parts) {
  const QuantizedCacheOptions options{.nbits = static_cast<int>(parts.option("nbits")),
                                      .q_group_size = parts.option("q_group_size"),
                                      .residual_length = parts.option("residual_length")};
  auto impl = std::make_unique<QuantizedCache::Impl>(CodedSequence(spec, options, parts));
  return std::unique_ptr<KvCache>(new QuantizedCache(std::move(impl)));
}

void QuantizedCache::prepare(std::int64_t n) { impl_->sequence.prepare(n); }
void QuantizedCache::attend(const Attention& attention) { impl_->sequence.attend(attention); }
void QuantizedCache::commit() { impl_->sequence.commit(); }
void QuantizedCache::rollback() { impl_->sequence.rollback(); }

}  // namespace quire
