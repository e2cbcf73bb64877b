// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <vector>

#include "text/jinja/special_casing.h"

namespace quire::jinja {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t N>
bool within(const Range (&ranges)[N], char32_t c) {
  return std::any_of(std::begin(ranges), std::end(ranges),
                     [c](const Range& r) { return c >= r.first && c <= r.last; });
}

// Other_Uppercase, Other_Lowercase: cased without being letters of that case.
constexpr Range kOtherUpper[] = {
    {0x2160, 0x216F}, {0x24B6, 0x24CF}, {0x1F130, 0x1F149}, {0x1F150, 0x1F169}, {0x1F170, 0x1F189}};
constexpr Range kOtherLower[] = {
    {0xAA, 0xAA},     {0xBA, 0xBA},     {0x2B0, 0x2B8},   {0x2C0, 0x2C1},   {0x2E0, 0x2E4},
    {0x345, 0x345},   {0x37A, 0x37A},   {0x1D2C, 0x1D6A}, {0x1D78, 0x1D78}, {0x1D9B, 0x1DBF},
    {0x2071, 0x2071}, {0x207F, 0x207F}, {0x2090, 0x209C}, {0x2170, 0x217F}, {0x24D0, 0x24E9},
    {0x2C7C, 0x2C7D}, {0xA69C, 0xA69D}, {0xA770, 0xA770}, {0xA7F8, 0xA7F9}, {0xAB5C, 0xAB5F}};
// Digits in a sense that do not form decimal numbers.
constexpr Range kOtherDigits[] = {
    {0xB2, 0xB3},       {0xB9, 0xB9},       {0x1369, 0x1371},   {0x19DA, 0x19DA},
    {0x2070, 0x2070},   {0x2074, 0x2079},   {0x2080, 0x2089},   {0x2460, 0x2468},
    {0x2474, 0x247C},   {0x2488, 0x2490},   {0x24EA, 0x24EA},   {0x24F5, 0x24FD},
    {0x24FF, 0x24FF},   {0x2776, 0x277E},   {0x2780, 0x2788},   {0x278A, 0x2792},
    {0x10A40, 0x10A43}, {0x10E60, 0x10E68}, {0x11052, 0x1105A}, {0x1F100, 0x1F10A}};
// Skipped when looking for a cased neighbour, beside marks and modifiers.
constexpr Range kIgnorablePunctuation[] = {
    {0x27, 0x27},     {0x2E, 0x2E},     {0x3A, 0x3A},     {0xB7, 0xB7},
    {0x387, 0x387},   {0x55F, 0x55F},   {0x5F4, 0x5F4},   {0x2018, 0x2019},
    {0x2024, 0x2024}, {0x2027, 0x2027}, {0xFE13, 0xFE13}, {0xFE52, 0xFE52},
    {0xFE55, 0xFE55}, {0xFF07, 0xFF07}, {0xFF0E, 0xFF0E}, {0xFF1A, 0xFF1A}};

constexpr char32_t kSigma = 0x3A3;

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

bool case_ignorable(char32_t c) {
  switch (category(c)) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      return within(kIgnorablePunctuation, c);
  }
}

std::vector<char32_t> decode(std::string_view text) {
  std::vector<char32_t> points;
  points.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) points.push_back(next_code_point(text, at));
  return points;
}

bool is_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// `text` with the letters from `first` to `last` in the other case.
std::string map_ascii(std::string_view text, char first, char last) {
  std::string out(text);
  for (char& c : out) {
    if (c >= first && c <= last) c = static_cast<char>(c ^ 0x20);
  }
  return out;
}

// A capital sigma at the end of a word has a lower case of its own.
bool final_sigma(const std::vector<char32_t>& text, std::size_t at) {
  std::size_t before = at;
  while (before > 0 && case_ignorable(text[before - 1])) --before;
  if (before == 0 || !is_cased(text[before - 1])) return false;
  std::size_t after = at + 1;
  while (after < text.size() && case_ignorable(text[after])) ++after;
  return after == text.size() || !is_cased(text[after]);
}

void append_lower(std::string& out, const std::vector<char32_t>& text, std::size_t at) {
  const char32_t c = text[at];
  if (c == kSigma) {
    append_utf8(out, final_sigma(text, at) ? 0x3C2 : 0x3C3);
  } else if (c == 0x130) {  // the one lower case of two code points
    append_utf8(out, 'i');
    append_utf8(out, 0x307);
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_upper(std::string& out, char32_t c) {
  if (const SpecialCasing* special = find_special_casing(c)) {
    for (const char32_t u : special->upper) append_utf8(out, u);
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_toupper(static_cast<utf8proc_int32_t>(c))));
  }
}

void append_title(std::string& out, char32_t c) {
  if (const SpecialCasing* special = find_special_casing(c)) {
    for (const char32_t t : special->title) append_utf8(out, t);
  } else {
    append_utf8(out, static_cast<char32_t>(utf8proc_totitle(static_cast<utf8proc_int32_t>(c))));
  }
}

}  // namespace

std::size_t count_code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

char32_t next_code_point(std::string_view text, std::size_t& at) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u;
  };
  const unsigned first = byte(at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  const std::size_t length = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  char32_t c = first & (0xFFu >> (length + 1));
  for (std::size_t i = 1; i < length; ++i) c = c << 6 | (byte(at + i) & 0x3Fu);
  at = std::min(at + length, text.size());
  return c;
}

void append_utf8(std::string& out, char32_t c) {
  const auto put = [&out](char32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::size_t byte_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) next_code_point(text, at);
  return at;
}

bool is_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 9 && c <= 13) || (c >= 0x1C && c <= 0x1F);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_printable(char32_t c) {
  if (c < 0x7F) return c >= 0x20;
  switch (category(c)) {
    case UTF8PROC_CATEGORY_CN:
    case UTF8PROC_CATEGORY_CC:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_CS:
    case UTF8PROC_CATEGORY_CO:
    case UTF8PROC_CATEGORY_ZS:
    case UTF8PROC_CATEGORY_ZL:
    case UTF8PROC_CATEGORY_ZP:
      return false;
    default:
      return true;
  }
}

bool is_alpha(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_LU && kind <= UTF8PROC_CATEGORY_LO;
}

bool is_decimal(char32_t c) { return category(c) == UTF8PROC_CATEGORY_ND; }
bool is_digit(char32_t c) { return is_decimal(c) || within(kOtherDigits, c); }

bool is_numeric(char32_t c) {
  const auto kind = category(c);
  return kind >= UTF8PROC_CATEGORY_ND && kind <= UTF8PROC_CATEGORY_NO;
}

bool is_word(char32_t c) { return c == '_' || is_alpha(c) || is_numeric(c); }

bool is_identifier_start(char32_t c) {
  return c == '_' || is_alpha(c) || category(c) == UTF8PROC_CATEGORY_NL;
}

bool is_identifier_part(char32_t c) {
  const auto kind = category(c);
  return is_identifier_start(c) || kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC ||
         kind == UTF8PROC_CATEGORY_ND || kind == UTF8PROC_CATEGORY_PC;
}

bool is_upper(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LU || within(kOtherUpper, c); }
bool is_lower(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LL || within(kOtherLower, c); }
bool is_title(char32_t c) { return category(c) == UTF8PROC_CATEGORY_LT; }
bool is_cased(char32_t c) { return is_upper(c) || is_lower(c) || is_title(c); }

bool is_line_end(char32_t c) {
  return (c >= 0x0A && c <= 0x0D) || (c >= 0x1C && c <= 0x1E) || c == 0x85 || c == 0x2028 ||
         c == 0x2029;
}

std::string to_upper(std::string_view text) {
  if (is_ascii(text)) return map_ascii(text, 'a', 'z');
  std::string out;
  for (std::size_t at = 0; at < text.size();) append_upper(out, next_code_point(text, at));
  return out;
}

std::string to_lower(std::string_view text) {
  if (is_ascii(text)) return map_ascii(text, 'A', 'Z');
  std::string out;
  const std::vector<char32_t> points = decode(text);
  for (std::size_t i = 0; i < points.size(); ++i) append_lower(out, points, i);
  return out;
}

std::string to_title(std::string_view text) {
  std::string out;
  const std::vector<char32_t> points = decode(text);
  bool inside = false;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (inside) {
      append_lower(out, points, i);
    } else {
      append_title(out, points[i]);
    }
    inside = is_cased(points[i]);
  }
  return out;
}

std::string to_capitalized(std::string_view text) {
  std::string out;
  const std::vector<char32_t> points = decode(text);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (i == 0) {
      append_title(out, points[i]);
    } else {
      append_lower(out, points, i);
    }
  }
  return out;
}

std::string swap_case(std::string_view text) {
  std::string out;
  const std::vector<char32_t> points = decode(text);
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (is_upper(points[i])) {
      append_lower(out, points, i);
    } else if (is_lower(points[i])) {
      append_upper(out, points[i]);
    } else {
      append_utf8(out, points[i]);
    }
  }
  return out;
}

std::string fold_case(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t c = next_code_point(text, at);
    std::array<utf8proc_int32_t, 8> folded{};
    int last_class = 0;
    const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(c), folded.data(),
                                               static_cast<utf8proc_ssize_t>(folded.size()),
                                               UTF8PROC_CASEFOLD, &last_class);
    for (utf8proc_ssize_t i = 0; i < count; ++i) {
      append_utf8(out, static_cast<char32_t>(folded[static_cast<std::size_t>(i)]));
    }
    if (count <= 0) append_utf8(out, c);
  }
  return out;
}

}  // namespace quire::jinja
