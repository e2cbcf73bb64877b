// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <memory>

namespace quire {

struct PagePoolOptions {
  std::int64_t block_size = 32;  // tokens a page: 16, 32 or 64
  std::int64_t max_bytes = 0;    // budget over all pages; 0: only the machine's memory
};

// Ref-counted pages of keys and values for the caches of one model. A page holds block_size tokens
// of one layer group (the layers that share a window). Caches keep their pool alive.
//
// Running out of the budget is Error kOutOfPages naming budget, used and asked.
//
// Thread-safety: internally synchronised.
class QUIRE_EXPORT PagePool {
 public:
  explicit PagePool(const KvSpec& spec, const PagePoolOptions& options = {});
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  const KvSpec& spec() const;
  std::int64_t block_size() const;
  std::int64_t max_bytes() const;

  // Bytes of pages that somebody holds.
  std::int64_t used_bytes() const;

  class Impl;
  Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace quire
