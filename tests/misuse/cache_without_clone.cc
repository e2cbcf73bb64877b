// SPDX-License-Identifier: Apache-2.0
// refused: abstract|pure
// A cache of one's own says how it is truncated and cloned.
#include <quire/kv_cache.h>

class Half : public quire::KvCache {
 public:
  std::int64_t length() const override { return 0; }
  void truncate(std::int64_t) override {}
};

void use() {
  Half half;  // misuse
}
