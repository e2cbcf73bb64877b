// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>
#include <quire/page_pool.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "kv/cache_parts.h"
#include "kv/page.h"
#include "kv/page_pool.h"

namespace quire {

// One sequence's pages: what DynamicCache and SlidingCache are made of. Contracts as KvCache.
//
// A copy is a fork: it shares the pages. During a pass (from prepare to commit or rollback) the
// tables already hold the pages to be written, and what they replaced is kept for rollback.
class PagedSequence {
 public:
  explicit PagedSequence(std::shared_ptr<PagePool> pool);

  // Begins with the first `tokens` tokens of these blocks, each the pages of one block for every
  // group, null where none is needed. See SharedBlocks.
  PagedSequence(std::shared_ptr<PagePool> pool, std::vector<std::vector<PageRef>> blocks,
                std::int64_t tokens);

  // As CacheParts has them; borrows the pages' memory.
  PagedSequence(std::shared_ptr<PagePool> pool, PartsReader& parts);
  CacheParts parts() const;  // without kind and options

  std::int64_t length() const { return length_; }
  const std::shared_ptr<PagePool>& pool() const { return pool_; }
  std::int64_t bytes() const;
  std::int64_t shared_bytes() const;

  // The pages that hold tokens [block * block_size, …), one for each group.
  std::vector<PageRef> block(std::int64_t block) const;

  bool can_truncate(std::int64_t n) const;
  void truncate(std::int64_t n);
  PagedSequence fork() const;
  PagedSequence clone() const;

  void prepare(std::int64_t n);
  void attend(const Attention& attention);
  void commit();
  void rollback();

 private:
  // The pages of a layer group: pages[i] holds tokens [i P, (i + 1) P); those before `first` are
  // behind the window and null.
  struct Table {
    std::int64_t first = 0;
    std::vector<PageRef> pages;
  };
  // What rollback puts back, for each table.
  struct Undo {
    std::size_t pages;  // how many there were
    PageRef last;       // the shared last page that a copy has replaced
  };
  struct Pass {
    std::int64_t tokens;
    std::vector<Undo> undo;
  };

  const PagePool::Impl& pool_impl() const { return pool_->impl(); }
  void check_no_pass(const char* what) const;
  // The page that the next token goes to is there and other forks hold it too.
  bool must_copy(const Table& table) const;

  std::shared_ptr<PagePool> pool_;
  std::vector<Table> tables_;  // one for each group
  std::int64_t length_ = 0;
  std::optional<Pass> pass_;
};

}  // namespace quire
