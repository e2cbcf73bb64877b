// SPDX-License-Identifier: Apache-2.0
// Word lists as they are written in the sources: words with spaces between.
//
// Thread-safety: a function of its arguments.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace quire {

template <typename Use>
void each_word(std::string_view list, const Use& use) {
  while (!list.empty()) {
    const std::size_t end = std::min(list.find(' '), list.size());
    if (end > 0) use(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
}

}  // namespace quire
