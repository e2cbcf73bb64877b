// SPDX-License-Identifier: Apache-2.0
#include "kv/paged_sequence.h"

#include <c10/core/InferenceMode.h>
#include <quire/error.h>

#include <algorithm>
#include <string>
#include <utility>

#include "io/make_room.h"

namespace quire {

PagedSequence::PagedSequence(std::shared_ptr<PagePool> pool) : pool_(std::move(pool)) {
  if (pool_ == nullptr) {
    throw Error(ErrorCode::kInvalidArgument, "KV cache", "expected a PagePool, found null");
  }
  tables_.resize(pool_impl().layers.groups.size());
}

PagedSequence::PagedSequence(std::shared_ptr<PagePool> pool,
                             std::vector<std::vector<PageRef>> blocks, std::int64_t tokens)
    : PagedSequence(std::move(pool)) {
  length_ = tokens;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const std::int64_t window = pool_impl().layers.groups[g].shape.window;
    tables_[g].first = first_kept_page(length_, window, pool_->block_size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const bool kept = static_cast<std::int64_t>(i) >= tables_[g].first;
      tables_[g].pages.push_back(kept ? std::move(blocks[i][g]) : PageRef());
    }
    // A page may be gone that only dropping tokens would need.
    while (tables_[g].first < std::ssize(tables_[g].pages) &&
           !tables_[g].pages[static_cast<std::size_t>(tables_[g].first)]) {
      ++tables_[g].first;
    }
  }
}

PagedSequence::PagedSequence(std::shared_ptr<PagePool> pool, PartsReader& parts)
    : PagedSequence(std::move(pool)) {
  length_ = parts.parts().length;
  const std::int64_t p = pool_->block_size();
  const std::int64_t pages = pages_for(length_, p);
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Table& table = tables_[g];
    const std::int64_t window = pool_impl().layers.groups[g].shape.window;
    const std::int64_t first = parts.first(g, first_seen_page(length_, window, p), pages);
    table.first = std::min(first, length_ / p);
    table.pages.resize(static_cast<std::size_t>(first));
    for (std::int64_t i = first; i < pages; ++i) {
      const at::Tensor& bytes = parts.next(pool_impl().bytes_of_page(g));
      table.pages.emplace_back(std::make_shared<Page>(bytes));
    }
  }
}

CacheParts PagedSequence::parts() const {
  check_no_pass("save");
  CacheParts parts;
  parts.length = length_;
  const std::int64_t p = pool_->block_size();
  for (const Table& table : tables_) {
    std::int64_t first = table.first;
    for (std::int64_t i = first; i < std::ssize(table.pages); ++i) {
      const PageRef& page = table.pages[static_cast<std::size_t>(i)];
      // One behind the window may be missing, where tokens were dropped.
      page ? parts.pages.push_back({page->storage(), i * p}) : void(first = i + 1);
    }
    parts.first.push_back(first);
  }
  return parts;
}

std::vector<PageRef> PagedSequence::block(std::int64_t block) const {
  std::vector<PageRef> pages;
  for (const Table& table : tables_) pages.push_back(table.pages[static_cast<std::size_t>(block)]);
  return pages;
}

void PagedSequence::check_no_pass(const char* what) const {
  if (!pass_) return;
  throw Error(ErrorCode::kInvalidArgument, std::string("KvCache::") + what,
              "expected a cache between passes, found one between prepare and commit");
}

std::int64_t PagedSequence::bytes() const {
  std::int64_t total = 0;
  for (const Table& table : tables_) {
    for (const PageRef& page : table.pages) total += page ? page->bytes() : 0;
  }
  return total;
}

std::int64_t PagedSequence::shared_bytes() const {
  std::int64_t total = 0;
  for (const Table& table : tables_) {
    for (const PageRef& page : table.pages) total += page && !page.unique() ? page->bytes() : 0;
  }
  return total;
}

bool PagedSequence::can_truncate(std::int64_t n) const {
  if (n < 0 || n > length_) return false;
  const LayerGroups& layers = pool_impl().layers;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const std::int64_t seen = first_seen(n, layers.groups[g].shape.window);
    if (seen < n && seen < tables_[g].first * pool_->block_size()) return false;
  }
  return true;
}

void PagedSequence::truncate(std::int64_t n) {
  check_no_pass("truncate");
  if (!can_truncate(n)) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::truncate",
                "expected a length whose past is still here, found " + std::to_string(n) + " of " +
                    std::to_string(length_));
  }
  const std::int64_t p = pool_->block_size();
  for (Table& table : tables_) {
    table.pages.resize(static_cast<std::size_t>(pages_for(n, p)));
    table.first = std::min(table.first, n / p);
  }
  length_ = n;
}

PagedSequence PagedSequence::fork() const {
  check_no_pass("fork");
  return *this;
}

PagedSequence PagedSequence::clone() const {
  PagedSequence copy = fork();
  std::vector<std::int64_t> sizes;
  for (const Table& table : tables_) {
    for (const PageRef& page : table.pages) {
      if (page) sizes.push_back(page->bytes());
    }
  }
  const std::vector<PageRef> pages = pool_impl().account->allocate(sizes);
  auto next = pages.begin();
  for (Table& table : copy.tables_) {
    for (PageRef& page : table.pages) {
      if (!page) continue;
      copy_page(page, *next);
      page = *next++;
    }
  }
  return copy;
}

bool PagedSequence::must_copy(const Table& table) const {
  const std::int64_t p = pool_->block_size();
  return length_ % p != 0 && !table.pages.empty() && table.pages.back() &&
         !table.pages.back().unique();
}

void PagedSequence::prepare(std::int64_t n) {
  check_no_pass("prepare");
  if (n < 0) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::prepare",
                "expected no fewer than 0 tokens, found " + std::to_string(n));
  }
  const auto needed = static_cast<std::size_t>(pages_for(length_ + n, pool_->block_size()));
  // Pages to write: those after the table's last, and the last one itself when it is shared, or
  // was behind the window when its tokens were dropped.
  std::vector<std::size_t> first_new;
  std::vector<std::int64_t> sizes;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const Table& table = tables_[g];
    const bool replace =
        n > 0 && (must_copy(table) || (length_ % pool_->block_size() != 0 && !table.pages.back()));
    first_new.push_back(table.pages.size() - (replace ? 1 : 0));
    sizes.insert(sizes.end(), needed - first_new[g], pool_impl().bytes_of_page(g));
  }
  std::vector<PageRef> pages = pool_impl().account->allocate(sizes);
  Pass pass{n, {}};
  // From here on nothing fails.
  pass.undo.reserve(tables_.size());
  for (Table& table : tables_) make_room(table.pages, needed);
  auto next = pages.begin();
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Table& table = tables_[g];
    Undo undo{table.pages.size(), {}};
    for (std::size_t i = first_new[g]; i < needed; ++i, ++next) {
      if (i == table.pages.size()) {
        table.pages.push_back(std::move(*next));
        continue;
      }
      if (table.pages[i]) copy_page(table.pages[i], *next);
      undo.last = std::exchange(table.pages[i], std::move(*next));
    }
    pass.undo.push_back(std::move(undo));
  }
  pass_ = std::move(pass);
}

void PagedSequence::attend(const Attention& attention) {
  if (!pass_) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::attend", "expected prepare before attend");
  }
  const PagePool::Impl& pool = pool_impl();
  if (attention.layer < 0 || attention.layer >= std::ssize(pool.layers.places)) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::attend",
                "expected one of " + std::to_string(pool.layers.places.size()) +
                    " layers, found layer " + std::to_string(attention.layer));
  }
  const c10::InferenceMode guard;
  const auto [g, index] = pool.layers.places[static_cast<std::size_t>(attention.layer)];
  const LayerGroup& group = pool.layers.groups[g];
  check_attention(attention, group.shape, pass_->tokens);
  if (pass_->tokens == 0) return;
  LayerPages pages{page_shape(group, pool_->block_size()), group.shape.window, length_, {}};
  const KvEncoding encoding = encoding_of(pool.spec.dtype);
  const std::int64_t offset = index * kv_page_bytes(pages.shape, encoding);
  pages.slices.reserve(tables_[g].pages.size());
  for (const PageRef& page : tables_[g].pages) {
    pages.slices.push_back({page ? &page->storage() : nullptr, offset, encoding});
  }
  pool.attend(pages, attention);
}

void PagedSequence::commit() {
  if (!pass_) return;
  length_ += pass_->tokens;
  pass_.reset();
  const LayerGroups& layers = pool_impl().layers;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    const std::int64_t first =
        first_kept_page(length_, layers.groups[g].shape.window, pool_->block_size());
    Table& table = tables_[g];
    for (; table.first < first; ++table.first) {
      table.pages[static_cast<std::size_t>(table.first)] = {};
    }
  }
}

void PagedSequence::rollback() {
  if (!pass_) return;
  for (std::size_t g = 0; g < tables_.size(); ++g) {
    Undo& undo = pass_->undo[g];
    tables_[g].pages.resize(undo.pages);
    if (undo.last) tables_[g].pages.back() = std::move(undo.last);
  }
  pass_.reset();
}

}  // namespace quire
