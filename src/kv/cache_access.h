// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dynamic_cache.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <memory>

#include "kv/cache_parts.h"

namespace quire {

// Each class's way apart and together; implemented beside the class.
struct CacheAccess {
  static CacheParts parts(const DynamicCache& cache);
  static CacheParts parts(const StaticCache& cache);
  static CacheParts parts(const QuantizedCache& cache);
  static CacheParts parts(const SlidingCache& cache);

  static std::unique_ptr<KvCache> dynamic(const KvSpec& spec, PartsReader& parts);
  static std::unique_ptr<KvCache> fixed(const KvSpec& spec, PartsReader& parts);
  static std::unique_ptr<KvCache> quantized(const KvSpec& spec, PartsReader& parts);
  static std::unique_ptr<KvCache> sliding(const KvSpec& spec, PartsReader& parts);
};

}  // namespace quire
