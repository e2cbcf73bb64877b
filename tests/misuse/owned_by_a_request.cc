// SPDX-License-Identifier: Apache-2.0
// refused: cannot convert
// A request does not own its cache.
#include <quire/dynamic_cache.h>
#include <quire/request.h>

void use(const quire::KvSpec& spec, quire::Request& request, quire::DynamicCache& cache) {
  request.cache = std::make_unique<quire::DynamicCache>(spec);  // misuse
  request.cache = &cache;
}
