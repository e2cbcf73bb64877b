// SPDX-License-Identifier: Apache-2.0
// A cache of two levels: what comes back from the second one moves up.
#include <quire/tiered_cache.h>

#include <iostream>
#include <string>

int main() {
  quire::TieredCache<std::string, std::string> levels({.l1_entries = 100, .l2_entries = 1000});
  for (int i = 0; i < 150; ++i)
    levels.put("key-" + std::to_string(i), "value " + std::to_string(i));

  const auto show = [&](const std::string& key) {
    const auto before = levels.stats();
    const auto value = levels.get(key);
    const auto after = levels.stats();
    std::cout << key << ": " << value.value_or("not there") << ", "
              << (after.l1_hits > before.l1_hits   ? "level 1"
                  : after.l2_hits > before.l2_hits ? "level 2, now at level 1"
                                                   : "a miss")
              << "; " << levels.l1_size() << " + " << levels.l2_size() << " entries\n";
  };
  show("key-100");
  show("key-20");
  show("key-20");
  show("key-999");
}
