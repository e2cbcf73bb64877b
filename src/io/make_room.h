// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace quire {

// Room for so many values in all, so that adding them cannot fail. Grows as push_back does.
// Throws std::bad_alloc; the values are then as before.
template <typename Value>
void make_room(std::vector<Value>& values, std::size_t count) {
  if (count > values.capacity()) values.reserve(std::max(count, 2 * values.capacity()));
}

}  // namespace quire
