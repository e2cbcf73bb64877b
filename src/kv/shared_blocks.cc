// SPDX-License-Identifier: Apache-2.0
#include "kv/shared_blocks.h"

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

}  // namespace quire
