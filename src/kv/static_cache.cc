// SPDX-License-Identifier: Apache-2.0
#include <ATen/core/Tensor.h>
#include <c10/core/InferenceMode.h>
#include <quire/error.h>
#include <quire/static_cache.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kv/cache_access.h"
#include "kv/layer_groups.h"
#include "kv/page.h"
#include "kv/page_attention.h"

namespace quire {
namespace {

// The slab is cut into pages as a pool's caches are, so the same kernels read it.
constexpr std::int64_t kPageTokens = 32;

std::int64_t checked_length(std::int64_t max_length) {
  if (max_length < 1) {
    throw Error(ErrorCode::kInvalidArgument, "StaticCacheOptions::max_length",
                "expected 1 or more tokens, found " + std::to_string(max_length));
  }
  return max_length;
}

// Where each group of layers begins in the slab, in bytes, and last where the slab ends.
std::vector<std::int64_t> slab_starts(const LayerGroups& layers, std::int64_t max_length,
                                      KvEncoding encoding) {
  const std::int64_t pages = (max_length - 1) / kPageTokens + 1;
  std::vector<std::int64_t> starts = {0};
  for (const LayerGroup& group : layers.groups) {
    std::int64_t end = 0;
    if (__builtin_mul_overflow(pages, page_bytes(group, kPageTokens, encoding), &end) ||
        __builtin_add_overflow(starts.back(), end, &end)) {
      throw Error(
          ErrorCode::kInvalidArgument, "StaticCacheOptions::max_length",
          "expected tokens whose bytes fit in 64 bits, found " + std::to_string(max_length));
    }
    starts.push_back(end);
  }
  return starts;
}

}  // namespace

struct StaticCache::Impl {
  Impl(const KvSpec& kv_spec, std::int64_t max_tokens)
      : spec(kv_spec),
        max_length(checked_length(max_tokens)),
        layers(group_layers(spec, "StaticCache")),
        encoding(encoding_of(spec.dtype)),
        starts(slab_starts(layers, max_length, encoding)),
        slab(allocate_bytes(spec.device, starts.back(), false)) {}

  // A layer's pages, with room for tokens up to `end`.
  LayerPages pages_of(std::int64_t layer, std::int64_t position, std::int64_t end) const {
    const auto [g, index] = layers.places[static_cast<std::size_t>(layer)];
    const LayerGroup& group = layers.groups[g];
    LayerPages pages{page_shape(group, kPageTokens), group.shape.window, position, {}};
    const std::int64_t stride = page_bytes(group, kPageTokens, encoding);
    const std::int64_t start = starts[g] + index * kv_page_bytes(pages.shape, encoding);
    for (std::int64_t i = 0; i < pages_for(end, kPageTokens); ++i) {
      pages.slices.push_back({&slab, start + i * stride, encoding});
    }
    return pages;
  }

  void copy_tokens(const Impl& from) {
    length = from.length;
    for (std::size_t g = 0; g < layers.groups.size(); ++g) {
      const std::int64_t bytes =
          pages_for(length, kPageTokens) * page_bytes(layers.groups[g], kPageTokens, encoding);
      copy_bytes(from.slab.narrow(0, starts[g], bytes), slab.narrow(0, starts[g], bytes));
    }
  }

  const KvSpec spec;
  const std::int64_t max_length;
  const LayerGroups layers;
  const KvEncoding encoding;
  const std::vector<std::int64_t> starts;  // see slab_starts
  at::Tensor slab;
  std::int64_t length = 0;
  std::optional<std::int64_t> pass;  // tokens of the pass that is going on
};

StaticCache::StaticCache(const KvSpec& spec, const StaticCacheOptions& options)
    : StaticCache(std::make_unique<Impl>(spec, options.max_length)) {}

StaticCache::StaticCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

StaticCache::~StaticCache() = default;

std::int64_t StaticCache::length() const { return impl_->length; }
std::int64_t StaticCache::capacity() const { return impl_->max_length; }
std::int64_t StaticCache::bytes() const { return impl_->slab.numel(); }
const void* StaticCache::data() const { return impl_->slab.const_data_ptr(); }
void StaticCache::reset() { truncate(0); }

void StaticCache::truncate(std::int64_t n) {
  if (impl_->pass || !can_truncate(n)) {
    throw Error(ErrorCode::kInvalidArgument, "StaticCache::truncate",
                "expected 0 to " + std::to_string(impl_->length) +
                    " tokens, between passes, found " + std::to_string(n));
  }
  impl_->length = n;
}

std::unique_ptr<KvCache> StaticCache::clone() const {
  auto impl = std::make_unique<Impl>(impl_->spec, impl_->max_length);
  impl->copy_tokens(*impl_);
  return std::unique_ptr<KvCache>(new StaticCache(std::move(impl)));
}

CacheParts CacheAccess::parts(const StaticCache& cache) {
  const StaticCache::Impl& impl = *cache.impl_;
  CacheParts parts;
  parts.kind = cache.kind();
  parts.options["max_length"] = impl.max_length;
  parts.length = impl.length;
  for (std::size_t g = 0; g < impl.layers.groups.size(); ++g) {
    parts.first.push_back(0);
    const std::int64_t bytes = page_bytes(impl.layers.groups[g], kPageTokens, impl.encoding);
    for (std::int64_t i = 0; i < pages_for(impl.length, kPageTokens); ++i) {
      parts.pages.push_back(
          {impl.slab.narrow(0, impl.starts[g] + i * bytes, bytes), i * kPageTokens});
    }
  }
  return parts;
}

std::unique_ptr<KvCache> CacheAccess::fixed(const KvSpec& spec, PartsReader& parts) {
  auto impl = std::make_unique<StaticCache::Impl>(spec, parts.option("max_length"));
  impl->length = parts.parts().length;
  if (impl->length > impl->max_length) parts.fail("expected no more tokens than max_length");
  for (std::size_t g = 0; g < impl->layers.groups.size(); ++g) {
    const std::int64_t bytes = page_bytes(impl->layers.groups[g], kPageTokens, impl->encoding);
    const std::int64_t pages = pages_for(impl->length, kPageTokens);
    for (std::int64_t i = parts.first(g, 0, pages); i < pages; ++i) {
      copy_bytes(parts.next(bytes), impl->slab.narrow(0, impl->starts[g] + i * bytes, bytes));
    }
  }
  return std::unique_ptr<KvCache>(new StaticCache(std::move(impl)));
}

void StaticCache::prepare(std::int64_t n) {
  if (impl_->pass) {
    throw Error(ErrorCode::kInvalidArgument, "StaticCache::prepare",
                "expected a cache between passes, found one between prepare and commit");
  }
  KvCache::prepare(n);
  impl_->pass = n;
}

void StaticCache::attend(const Attention& attention) {
  const std::int64_t layers = std::ssize(impl_->spec.layers);
  if (!impl_->pass || attention.layer < 0 || attention.layer >= layers) {
    throw Error(ErrorCode::kInvalidArgument, "StaticCache::attend",
                "expected prepare before, and one of " + std::to_string(layers) +
                    " layers, found layer " + std::to_string(attention.layer));
  }
  const c10::InferenceMode guard;
  check_attention(attention, impl_->spec.layers[static_cast<std::size_t>(attention.layer)],
                  *impl_->pass);
  if (*impl_->pass == 0) return;
  const std::int64_t length = impl_->length + *impl_->pass;
  attention_on(impl_->spec.device)(impl_->pages_of(attention.layer, impl_->length, length),
                                   attention);
}

void StaticCache::commit() {
  impl_->length += impl_->pass.value_or(0);
  impl_->pass.reset();
}

void StaticCache::rollback() { impl_->pass.reset(); }

}  // namespace quire
