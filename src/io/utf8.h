// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

namespace quire {

// The length of the valid UTF-8 sequence that `text` begins with: 1 to 4, or 0 when there is none
// (overlong forms, surrogates and values past U+10FFFF are invalid; so is a sequence cut short).
std::size_t utf8_sequence(std::string_view text);

bool is_utf8(std::string_view text);

}  // namespace quire
