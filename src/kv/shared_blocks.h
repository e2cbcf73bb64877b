// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dynamic_cache.h>
#include <quire/page_pool.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kv/page.h"

namespace quire {

// The pages of one block of tokens, one for each layer group; null where a window has moved on.
using BlockPages = std::vector<PageRef>;

// How the prefix cache takes pages from one sequence and gives them to another. Pages are shared,
// not copied: whoever writes to a shared page first copies it.
struct SharedBlocks {
  // The pages that hold tokens [block * block_size, …). REQUIRES: the cache has tokens there, and
  // is between passes.
  static BlockPages take(const DynamicCache& cache, std::int64_t block);

  // A cache of the first `tokens` tokens of these blocks, in order.
  // REQUIRES: pages_for(tokens) blocks, of this pool, and usable(blocks, tokens).
  static std::unique_ptr<DynamicCache> give(std::shared_ptr<PagePool> pool,
                                            std::vector<BlockPages> blocks, std::int64_t tokens);

  // Whether all that a token at position `tokens` attends to is there. `blocks` are the blocks of
  // the first `tokens` tokens.
  static bool usable(const PagePool& pool, std::span<const BlockPages* const> blocks,
                     std::int64_t tokens);

  static std::int64_t bytes(const BlockPages& pages);

  // The bytes of pages on the host; empty where there is no page.
  struct HostPages {
    std::vector<at::Tensor> storage;  // what keeps the bytes
    std::vector<std::span<const std::byte>> bytes;
  };
  static HostPages on_host(const BlockPages& pages);

  // Pages that are about to be filled: the bytes go into `places`, then arrive() makes pages of
  // them.
  struct NewPages {
    BlockPages pages;
    std::vector<at::Tensor> storage;  // on the host
    std::vector<std::span<std::byte>> places;

    void arrive();
  };
  // Nothing if pages of this pool have other sizes; 0: no page.
  static std::optional<NewPages> allocate(const PagePool& pool,
                                          std::span<const std::int64_t> bytes);
};

}  // namespace quire
