// SPDX-License-Identifier: Apache-2.0
#include <quire/quantized_cache.h>

#include <utility>

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

void QuantizedCache::prepare(std::int64_t n) { impl_->sequence.prepare(n); }
void QuantizedCache::attend(const Attention& attention) { impl_->sequence.attend(attention); }
void QuantizedCache::commit() { impl_->sequence.commit(); }
void QuantizedCache::rollback() { impl_->sequence.rollback(); }

}  // namespace quire
