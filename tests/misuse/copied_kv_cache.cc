// SPDX-License-Identifier: Apache-2.0
// refused: use of deleted function .*DynamicCache\(const
// Keys and values are copied by clone() and shared by fork(), never by accident.
#include <quire/dynamic_cache.h>

void use(const quire::DynamicCache& cache) {
  quire::DynamicCache copy = cache;  // misuse
  std::unique_ptr<quire::KvCache> shared = cache.fork();
}
