// SPDX-License-Identifier: Apache-2.0
#include "generate/text_difference.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace quire {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\f\v";

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }

// What ends a word: blanks, and what control tokens and quotations are written with.
constexpr std::string_view kBorders = " \t\r\n\f\v<>|()[]{}\"'";

// The word that holds byte `at`, or begins after the blanks there.
std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t begin = at;
  while (begin > 0 && kBorders.find(text[begin - 1]) == std::string_view::npos) --begin;
  if (begin == at) begin = std::min(text.find_first_not_of(kBlanks, at), text.size());
  return text.substr(begin, text.find_first_of(kBorders, begin) - begin);
}

std::string letters_of(std::string_view word) {
  std::string letters;
  for (const char c : word) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalpha(byte) != 0) letters += static_cast<char>(std::tolower(byte));
  }
  return letters;
}

// A day or a month, whole or as its first three letters.
bool names_date(std::string_view word) {
  constexpr std::array<std::string_view, 19> kNames = {
      "monday",  "tuesday",   "wednesday", "thursday", "friday",  "saturday", "sunday",
      "january", "february",  "march",     "april",    "may",     "june",     "july",
      "august",  "september", "october",   "november", "december"};
  const std::string letters = letters_of(word);
  return std::ranges::any_of(kNames, [&](std::string_view name) {
    return letters == name || letters == name.substr(0, 3);
  });
}

// "2024", "10:31", "2024-07-26", "26/07/2024".
bool counts_date(std::string_view word) {
  const auto digits = static_cast<std::size_t>(std::ranges::count_if(word, is_digit));
  if (digits < 2) return false;
  const bool parted = word.find_first_of(":-/") != std::string_view::npos;
  const std::size_t first = word.find_first_of("0123456789");
  const std::string_view number = word.substr(first, 4);
  const bool year = digits == 4 && (number.starts_with("19") || number.starts_with("20"));
  return parted || year;
}

bool is_date(std::string_view text, std::size_t at) {
  const std::string_view word = word_at(text, at);
  if (names_date(word) || counts_date(word)) return true;
  if (word.empty() || !is_digit(word.front())) return false;
  // "July 4", "26 Jul".
  const auto begin = static_cast<std::size_t>(word.data() - text.data());
  const std::size_t before = text.substr(0, begin).find_last_not_of(kBlanks);
  const std::size_t after = text.find_first_not_of(kBlanks, begin + word.size());
  return (before != std::string_view::npos && names_date(word_at(text, before))) ||
         (after != std::string_view::npos && names_date(word_at(text, after)));
}

}  // namespace

std::size_t common_bytes(std::string_view a, std::string_view b) {
  auto end = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  while (end > 0 && end < a.size() && continues_character(a[end])) --end;
  return end;
}

std::string first_characters(std::string_view text, std::size_t count) {
  std::size_t end = 0;
  while (end < text.size() && (continues_character(text[end]) || count > 0)) {
    if (!continues_character(text[end])) --count;
    ++end;
  }
  return std::string(text.substr(0, end));
}

std::string last_characters(std::string_view text, std::size_t count) {
  std::size_t begin = text.size();
  while (begin > 0 && count > 0) {
    --begin;
    if (!continues_character(text[begin])) --count;
  }
  return std::string(text.substr(begin));
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool dates_differ(std::string_view a, std::string_view b) {
  const std::size_t at = common_bytes(a, b);
  return at < a.size() && at < b.size() && word_at(a, at) != word_at(b, at) && is_date(a, at) &&
         is_date(b, at);
}

std::optional<WhiteSpaceDifference> white_space_difference(std::string_view a, std::string_view b) {
  constexpr std::size_t kCompared = 16;
  const std::size_t at = common_bytes(a, b);
  const auto skip = [&](std::string_view text) {
    return std::min(text.find_first_not_of(kBlanks, at), text.size());
  };
  const std::size_t x = skip(a);
  const std::size_t y = skip(b);
  if (x == at && y == at) return std::nullopt;
  if (a.substr(x, kCompared) != b.substr(y, kCompared)) return std::nullopt;
  return WhiteSpaceDifference{at, at};
}

}  // namespace quire
