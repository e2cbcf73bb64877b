// SPDX-License-Identifier: Apache-2.0
// refused: use of deleted function .*PrefixMatch\(const
// A match holds its pages: there is one holder.
#include <quire/prefix_cache.h>

void use(quire::PrefixMatch& match) {
  quire::PrefixMatch copy = match;  // misuse
  quire::PrefixMatch moved = std::move(match);
}
