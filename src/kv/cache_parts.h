// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace quire {

// A cache taken apart into what a file can hold.
struct CacheParts {
  struct Page {
    at::Tensor bytes;       // [n] uint8; borrowed from the cache
    std::int64_t position;  // of its first token
  };
  std::string kind;  // KvCache::kind()
  std::map<std::string, std::int64_t> options;
  std::int64_t length = 0;
  std::vector<std::int64_t> first;  // for each layer group, the first page that is still there
  std::vector<Page> pages;          // group by group, in order of position
};

// Errors: kUnsupported for a class of the caller's own. REQUIRES: the cache is between passes.
CacheParts take_apart(const KvCache& cache);

// A cache that reads these pages where they lie and never writes to them (a StaticCache copies
// them). Errors: kCorrupt, naming `subject`, for parts that no cache of this spec comes apart into.
std::unique_ptr<KvCache> put_together(const KvSpec& spec, const CacheParts& parts,
                                      const std::string& subject);

// Takes the pages one after the other; Error kCorrupt unless each is there and of its size.
class PartsReader {
 public:
  PartsReader(const CacheParts& parts, std::string subject)
      : parts_(parts), subject_(std::move(subject)) {}

  const CacheParts& parts() const { return parts_; }
  std::int64_t option(const std::string& name) const;
  // The first kept page of a group of `pages` pages, of which those from `needed` on must be there.
  std::int64_t first(std::size_t group, std::int64_t needed, std::int64_t pages) const;
  const at::Tensor& next(std::int64_t bytes);
  void finish() const;  // all were taken
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  const CacheParts& parts_;
  std::string subject_;
  std::size_t taken_ = 0;
};

// What the cache classes know of their own parts.
struct CacheAccess;

}  // namespace quire
