// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/dtype.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

namespace quire {

class PageAccount;

// Memory for keys and values, held by one cache or by several forks of it.
class Page {
 public:
  Page(at::Tensor storage, std::shared_ptr<PageAccount> account);
  // Memory that is only to be read and is in no budget, such as a mapped file's: whoever holds it
  // is never its only holder.
  explicit Page(at::Tensor storage) : holders_(1), storage_(std::move(storage)) {}
  ~Page();
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;

  const at::Tensor& storage() const { return storage_; }  // [bytes] uint8
  std::int64_t bytes() const { return storage_.numel(); }

 private:
  friend class PageRef;
  std::atomic<std::int64_t> holders_{0};
  at::Tensor storage_;
  std::shared_ptr<PageAccount> account_;  // null: none
};

// One holder's share of a page.
//
// Thread-safety: distinct refs to one page may be used on distinct threads. unique() is what makes
// writing safe: once it is true, everything other holders did with the page has happened.
class PageRef {
 public:
  PageRef() = default;
  explicit PageRef(std::shared_ptr<Page> page) : page_(std::move(page)) { hold(); }
  PageRef(const PageRef& other) : page_(other.page_) { hold(); }
  PageRef(PageRef&& other) noexcept : page_(std::move(other.page_)) {}
  PageRef& operator=(PageRef other) noexcept {
    std::swap(page_, other.page_);
    return *this;
  }
  ~PageRef() {
    if (page_ != nullptr) page_->holders_.fetch_sub(1, std::memory_order_release);
  }

  explicit operator bool() const { return page_ != nullptr; }
  const Page* operator->() const { return page_.get(); }
  bool unique() const { return page_->holders_.load(std::memory_order_acquire) == 1; }

 private:
  void hold() {
    if (page_ != nullptr) page_->holders_.fetch_add(1, std::memory_order_relaxed);
  }

  std::shared_ptr<Page> page_;
};

// A byte budget, and the pages that are within it.
//
// Thread-safety: internally synchronised.
class PageAccount : public std::enable_shared_from_this<PageAccount> {
 public:
  PageAccount(Device device, std::int64_t max_bytes) : device_(device), max_bytes_(max_bytes) {}

  // A page of each size, or none. Throws Error kOutOfPages (naming budget, used and asked) or
  // kOutOfMemory.
  std::vector<PageRef> allocate(std::span<const std::int64_t> sizes, bool zeroed = true);

  std::int64_t max_bytes() const { return max_bytes_; }
  std::int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }

 private:
  friend class Page;
  void take(std::int64_t bytes);
  void give_back(std::int64_t bytes) { used_bytes_.fetch_sub(bytes, std::memory_order_relaxed); }

  const Device device_;
  const std::int64_t max_bytes_;  // 0: no limit
  std::atomic<std::int64_t> used_bytes_{0};
};

// Zeroed memory on a device, [bytes] uint8. Throws Error kOutOfMemory.
at::Tensor allocate_bytes(Device device, std::int64_t bytes, bool zeroed);

// Copies [bytes] uint8, on this thread. ATen would share out what is larger than 32 KiB among the
// threads of OpenMP, which then keep polling on cores that ours need.
void copy_bytes(const at::Tensor& from, const at::Tensor& to);
void copy_page(const PageRef& from, const PageRef& to);

}  // namespace quire
