// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace quire::jinja {

// A code point whose upper or title case is more than one code point.
struct SpecialCasing {
  char32_t code_point;
  std::u32string_view upper;
  std::u32string_view title;
};

// nullptr when there is nothing special about `c`.
const SpecialCasing* find_special_casing(char32_t c);

}  // namespace quire::jinja
