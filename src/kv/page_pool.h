// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_pool.h>

#include <memory>

#include "kv/layer_groups.h"
#include "kv/page.h"
#include "kv/page_attention.h"

namespace quire {

// What the caches need of their pool.
class PagePool::Impl {
 public:
  Impl(const KvSpec& kv_spec, const PagePoolOptions& pool_options);

  const KvSpec spec;
  const PagePoolOptions options;
  const LayerGroups layers;
  const std::shared_ptr<PageAccount> account;
  AttendToPages attend;  // how pages are laid out and read; by device

  std::int64_t bytes_of_page(std::size_t group) const {
    return page_bytes(layers.groups[group], options.block_size, encoding_of(spec.dtype));
  }
};

}  // namespace quire
