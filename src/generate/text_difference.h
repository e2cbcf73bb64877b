// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace quire {

// Bytes that two texts have in common, up to a character's beginning.
std::size_t common_bytes(std::string_view a, std::string_view b);

std::string first_characters(std::string_view text, std::size_t count);
std::string last_characters(std::string_view text, std::size_t count);

// Without the white space around it.
std::string_view trimmed(std::string_view text);

// Whether the first difference is one of dates or times: of the names of days or months, or of
// numbers that are written as dates, times or years.
bool dates_differ(std::string_view a, std::string_view b);

// Where the first difference begins in both texts, if it is white space alone.
struct WhiteSpaceDifference {
  std::size_t a = 0;
  std::size_t b = 0;
};
std::optional<WhiteSpaceDifference> white_space_difference(std::string_view a, std::string_view b);

}  // namespace quire
