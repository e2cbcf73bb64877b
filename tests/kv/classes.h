// SPDX-License-Identifier: Apache-2.0
// Every cache class that the conformance suite runs on.
#pragma once

#include <quire/kv_cache.h>

#include <functional>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kv/naive.h"

namespace quire::testing {

struct CacheClass {
  std::string name;
  DType dtype = DType::kF32;
  std::function<std::unique_ptr<KvCache>(const KvSpec&)> make;
  Coding coding = {};
  bool by_kernels = true;  // results are the same to the bit however passes are cut
  // A window over all layers that the class adds to the spec; 0: none.
  std::int64_t window = 0;
  double tolerance = 1e-5;
};

inline void PrintTo(const CacheClass& cache, std::ostream* out) { *out << cache.name; }

std::vector<CacheClass> cache_classes();

// Two groups of layers, one of them windowed.
KvSpec test_spec(DType dtype);

// The spec that a class's tokens really see.
KvSpec effective_spec(const CacheClass& cache, KvSpec spec);

}  // namespace quire::testing
