// SPDX-License-Identifier: Apache-2.0
#include "kv/page_pool.h"

#include <quire/error.h>

#include <string>

namespace quire {
namespace {

const PagePoolOptions& checked(const PagePoolOptions& options) {
  const std::int64_t size = options.block_size;
  if (size != 16 && size != 32 && size != 64) {
    throw Error(ErrorCode::kInvalidArgument, "PagePoolOptions::block_size",
                "expected 16, 32 or 64, found " + std::to_string(size));
  }
  if (options.max_bytes < 0) {
    throw Error(ErrorCode::kInvalidArgument, "PagePoolOptions::max_bytes",
                "expected 0 or more, found " + std::to_string(options.max_bytes));
  }
  return options;
}

}  // namespace

PagePool::Impl::Impl(const KvSpec& kv_spec, const PagePoolOptions& pool_options)
    : spec(kv_spec),
      options(checked(pool_options)),
      layers(group_layers(spec, "PagePool")),
      account(std::make_shared<PageAccount>(spec.device, options.max_bytes)),
      attend(attention_on(spec.device)) {}

PagePool::PagePool(const KvSpec& spec, const PagePoolOptions& options)
    : impl_(std::make_unique<Impl>(spec, options)) {}

PagePool::~PagePool() = default;

const KvSpec& PagePool::spec() const { return impl_->spec; }

std::int64_t PagePool::block_size() const { return impl_->options.block_size; }

std::int64_t PagePool::max_bytes() const { return impl_->options.max_bytes; }

std::int64_t PagePool::used_bytes() const { return impl_->account->used_bytes(); }

}  // namespace quire
