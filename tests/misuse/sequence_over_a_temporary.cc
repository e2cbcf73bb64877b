// SPDX-License-Identifier: Apache-2.0
// refused: cannot bind non-const lvalue reference
#include <quire/dynamic_cache.h>
#include <quire/model.h>

void use(const quire::KvSpec& spec, const quire::TokenIds& ids, quire::DynamicCache& cache) {
  quire::Sequence lost{ids, quire::DynamicCache(spec)};  // misuse
  quire::Sequence kept{ids, cache};
}
