// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

// Code points of UTF-8 texts, and Python's classes of them. Texts here are valid UTF-8, but for
// surrogates, which a string literal's escapes can make (Python has them too).
namespace quire::jinja {

// The number of code points.
std::size_t count_code_points(std::string_view text);

// Decodes the code point at `at` and moves past it. REQUIRES: at < text.size().
char32_t next_code_point(std::string_view text, std::size_t& at);

void append_utf8(std::string& out, char32_t code_point);

// The byte where code point `index` begins; text.size() for the one past the end.
std::size_t byte_offset(std::string_view text, std::size_t index);

bool is_space(char32_t c);      // str.isspace
bool is_printable(char32_t c);  // str.isprintable
bool is_alpha(char32_t c);
bool is_decimal(char32_t c);
bool is_digit(char32_t c);
bool is_numeric(char32_t c);
bool is_word(char32_t c);  // \w of a regular expression
bool is_identifier_start(char32_t c);
bool is_identifier_part(char32_t c);
bool is_cased(char32_t c);
bool is_upper(char32_t c);
bool is_lower(char32_t c);
bool is_title(char32_t c);
// Ends a line for str.splitlines.
bool is_line_end(char32_t c);

// Full case mappings, which may change the length; the final sigma included.
std::string to_upper(std::string_view text);
std::string to_lower(std::string_view text);
std::string to_title(std::string_view text);        // str.title
std::string to_capitalized(std::string_view text);  // str.capitalize
std::string swap_case(std::string_view text);
std::string fold_case(std::string_view text);

}  // namespace quire::jinja
