// SPDX-License-Identifier: Apache-2.0
// What repr() of texts and of bytes have in common.
#pragma once

#include <string>
#include <string_view>

namespace quire::jinja {

// Single quotes, unless the text has some and no double ones.
char repr_quote(std::string_view text);

// Appends a quote, a backslash or a common control character as Python escapes it; false: `c` is
// none of these.
bool append_short_escape(std::string& out, char32_t c, char32_t quote);

// Appends the lowest `digits` hexadecimal digits.
void append_hex(std::string& out, char32_t value, int digits);

}  // namespace quire::jinja
