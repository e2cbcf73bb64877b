// SPDX-License-Identifier: Apache-2.0
#include "kv/shared_blocks.h"

#include <c10/core/InferenceMode.h>

#include <utility>

#include "kv/dynamic_impl.h"
#include "kv/page_pool.h"

namespace quire {

BlockPages SharedBlocks::take(const DynamicCache& cache, std::int64_t block) {
  return cache.impl_->sequence.block(block);
}

std::unique_ptr<DynamicCache> SharedBlocks::give(std::shared_ptr<PagePool> pool,
                                                 std::vector<BlockPages> blocks,
                                                 std::int64_t tokens) {
  auto cache = std::make_unique<DynamicCache>(pool);
  cache->impl_->sequence = PagedSequence(std::move(pool), std::move(blocks), tokens);
  return cache;
}

bool SharedBlocks::usable(const PagePool& pool, std::span<const BlockPages* const> blocks,
                          std::int64_t tokens) {
  const std::vector<LayerGroup>& groups = pool.impl().layers.groups;
  const std::int64_t last = pages_for(tokens, pool.block_size());
  for (std::size_t g = 0; g < groups.size(); ++g) {
    const std::int64_t seen = first_seen(tokens, groups[g].shape.window);
    for (std::int64_t block = seen / pool.block_size(); block < last; ++block) {
      if (!(*blocks[static_cast<std::size_t>(block)])[g]) return false;
    }
  }
  return true;
}

std::int64_t SharedBlocks::bytes(const BlockPages& pages) {
  std::int64_t total = 0;
  for (const PageRef& page : pages) total += page ? page->bytes() : 0;
  return total;
}

SharedBlocks::HostPages SharedBlocks::on_host(const BlockPages& pages) {
  const c10::InferenceMode guard;
  HostPages host;
  for (const PageRef& page : pages) {
    if (!page) {
      host.bytes.emplace_back();
      continue;
    }
    host.storage.push_back(page->storage().cpu());
    const at::Tensor& storage = host.storage.back();
    host.bytes.emplace_back(static_cast<const std::byte*>(storage.const_data_ptr()),
                            static_cast<std::size_t>(storage.numel()));
  }
  return host;
}

std::optional<SharedBlocks::NewPages> SharedBlocks::allocate(const PagePool& pool,
                                                             std::span<const std::int64_t> bytes) {
  const c10::InferenceMode guard;
  const std::size_t groups = pool.impl().layers.groups.size();
  std::vector<std::int64_t> sizes;
  for (std::size_t g = 0; g < bytes.size(); ++g) {
    if (bytes[g] == 0) continue;
    if (g >= groups || bytes[g] != pool.impl().bytes_of_page(g)) return std::nullopt;
    sizes.push_back(bytes[g]);
  }
  std::vector<PageRef> allocated = pool.impl().account->allocate(sizes, /*zeroed=*/false);
  auto next = allocated.begin();
  NewPages made;
  made.pages.resize(groups);
  for (std::size_t g = 0; g < bytes.size(); ++g) {
    if (bytes[g] == 0) {
      made.places.emplace_back();
      continue;
    }
    made.pages[g] = std::move(*next++);
    const at::Tensor& page = made.pages[g]->storage();
    made.storage.push_back(page.is_cpu() ? page : allocate_bytes(Device::kCpu, bytes[g], false));
    made.places.emplace_back(static_cast<std::byte*>(made.storage.back().mutable_data_ptr()),
                             static_cast<std::size_t>(bytes[g]));
  }
  return made;
}

void SharedBlocks::NewPages::arrive() {
  const c10::InferenceMode guard;
  auto from = storage.begin();
  for (const PageRef& page : pages) {
    if (!page) continue;
    if (!page->storage().is_cpu()) page->storage().copy_(*from);
    ++from;
  }
}

}  // namespace quire
