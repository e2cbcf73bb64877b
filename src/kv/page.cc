// SPDX-License-Identifier: Apache-2.0
#include "kv/page.h"

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <quire/error.h>

#include <cstring>
#include <new>
#include <numeric>
#include <string>

namespace quire {

Page::Page(at::Tensor storage, std::shared_ptr<PageAccount> account)
    : storage_(std::move(storage)), account_(std::move(account)) {}

Page::~Page() {
  if (account_) account_->give_back(bytes());
}

void PageAccount::take(std::int64_t bytes) {
  std::int64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (max_bytes_ > 0 && bytes > max_bytes_ - used) {
      throw Error(ErrorCode::kOutOfPages, "page pool",
                  "expected room for " + std::to_string(bytes) + " bytes, found " +
                      std::to_string(used) + " of a budget of " + std::to_string(max_bytes_) +
                      " bytes in use");
    }
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
}

std::vector<PageRef> PageAccount::allocate(std::span<const std::int64_t> sizes, bool zeroed) {
  std::int64_t left = std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0});
  std::vector<PageRef> pages;
  pages.reserve(sizes.size());
  take(left);
  try {
    for (const std::int64_t bytes : sizes) {
      auto page =
          std::make_shared<Page>(allocate_bytes(device_, bytes, zeroed), shared_from_this());
      left -= bytes;
      pages.emplace_back(std::move(page));
    }
  } catch (...) {
    give_back(left);
    throw;
  }
  return pages;
}

at::Tensor allocate_bytes(Device device, std::int64_t bytes, bool zeroed) {
  const auto options = at::TensorOptions(at::kByte).device(
      device == Device::kCuda ? at::DeviceType::CUDA : at::DeviceType::CPU);
  try {
    at::Tensor memory = at::empty({bytes}, options);
    if (!zeroed) return memory;
    if (!memory.is_cpu()) return memory.zero_();
    std::memset(memory.mutable_data_ptr(), 0, static_cast<std::size_t>(bytes));
    return memory;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorCode::kOutOfMemory, "KV cache",
                "expected " + std::to_string(bytes) + " bytes, found no such memory");
  } catch (const c10::Error& error) {
    throw Error(ErrorCode::kOutOfMemory, "KV cache",
                "expected " + std::to_string(bytes) + " bytes of memory, found " +
                    error.what_without_backtrace());
  }
}

void copy_bytes(const at::Tensor& from, const at::Tensor& to) {
  if (from.numel() == 0) return;  // and perhaps no memory
  if (from.is_cpu() && to.is_cpu()) {
    std::memcpy(to.mutable_data_ptr(), from.const_data_ptr(),
                static_cast<std::size_t>(from.numel()));
  } else {
    to.copy_(from);
  }
}

void copy_page(const PageRef& from, const PageRef& to) {
  copy_bytes(from->storage(), to->storage());
}

}  // namespace quire
