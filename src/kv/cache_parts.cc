// SPDX-License-Identifier: Apache-2.0
#include "kv/cache_parts.h"

#include <c10/core/InferenceMode.h>
#include <quire/error.h>

#include <utility>

#include "kv/cache_access.h"

namespace quire {

std::int64_t PartsReader::option(const std::string& name) const {
  const auto found = parts_.options.find(name);
  if (found == parts_.options.end()) fail("expected the option " + name + ", found none");
  return found->second;
}

std::int64_t PartsReader::first(std::size_t group, std::int64_t needed, std::int64_t pages) const {
  if (group >= parts_.first.size()) fail("expected more layer groups");
  const std::int64_t first = parts_.first[group];
  if (first < 0 || first > std::min(needed, pages)) {
    fail("expected pages from page " + std::to_string(needed) + " on, found them from page " +
         std::to_string(first) + " of " + std::to_string(pages));
  }
  return first;
}

const at::Tensor& PartsReader::next(std::int64_t bytes) {
  if (taken_ == parts_.pages.size()) {
    fail("expected more than " + std::to_string(taken_) + " pages");
  }
  const at::Tensor& page = parts_.pages[taken_].bytes;
  if (page.numel() != bytes) {
    fail("expected a page of " + std::to_string(bytes) + " bytes, found " +
         std::to_string(page.numel()));
  }
  ++taken_;
  return page;
}

void PartsReader::finish() const {
  if (taken_ == parts_.pages.size()) return;
  fail("expected " + std::to_string(taken_) + " pages, found " +
       std::to_string(parts_.pages.size()));
}

void PartsReader::fail(const std::string& problem) const {
  throw Error(ErrorCode::kCorrupt, subject_, problem);
}

CacheParts take_apart(const KvCache& cache) {
  const c10::InferenceMode guard;
  if (const auto* c = dynamic_cast<const DynamicCache*>(&cache)) return CacheAccess::parts(*c);
  if (const auto* c = dynamic_cast<const StaticCache*>(&cache)) return CacheAccess::parts(*c);
  if (const auto* c = dynamic_cast<const QuantizedCache*>(&cache)) return CacheAccess::parts(*c);
  if (const auto* c = dynamic_cast<const SlidingCache*>(&cache)) return CacheAccess::parts(*c);
  throw Error(ErrorCode::kUnsupported, "KV cache",
              "expected a dynamic, static, quantized or sliding one, found kind " +
                  std::string(cache.kind()));
}

std::unique_ptr<KvCache> put_together(const KvSpec& spec, const CacheParts& parts,
                                      const std::string& subject) {
  const c10::InferenceMode guard;
  PartsReader reader(parts, subject);
  if (parts.length < 1 || parts.length > std::int64_t{1} << 40) {
    reader.fail("expected 1 or more tokens, found " + std::to_string(parts.length));
  }
  try {
    auto cache = parts.kind == "dynamic"     ? CacheAccess::dynamic(spec, reader)
                 : parts.kind == "static"    ? CacheAccess::fixed(spec, reader)
                 : parts.kind == "quantized" ? CacheAccess::quantized(spec, reader)
                 : parts.kind == "sliding"   ? CacheAccess::sliding(spec, reader)
                                             : nullptr;
    if (!cache) reader.fail("expected a known class of cache, found " + parts.kind);
    reader.finish();
    return cache;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kInvalidArgument) throw;
    reader.fail(error.what());  // options that the class refuses
  }
}

}  // namespace quire
