// SPDX-License-Identifier: Apache-2.0
#include "text/unicode.h"

#include <quire/error.h>
#include <utf8proc.h>

#include <array>
#include <cstdlib>
#include <memory>

#include "text/unicode_revisions.h"
#include "text/utf8.h"

namespace quire {

namespace {

utf8proc_category_t category(char32_t c) {
  return utf8proc_category(static_cast<utf8proc_int32_t>(c));
}

// Categories that belong together are numbered in a row.
bool in(utf8proc_category_t kind, utf8proc_category_t first, utf8proc_category_t last) {
  return kind >= first && kind <= last;
}

CharacterClass classify(char32_t c) {
  if (is_letter(c)) return CharacterClass::kLetter;
  if (is_number(c)) return CharacterClass::kNumber;
  if (is_white_space(c)) return CharacterClass::kSpace;
  return CharacterClass::kOther;
}

// The classes of the first plane's low part, where nearly every text lives.
constexpr char32_t kTableSize = 0x3100;

const std::array<CharacterClass, kTableSize>& class_table() {
  static const auto table = [] {
    std::array<CharacterClass, kTableSize> classes{};
    for (char32_t c = 0; c < kTableSize; ++c) classes[c] = classify(c);
    return classes;
  }();
  return table;
}

bool is_ascii(std::string_view text) {
  for (const char byte : text) {
    if (static_cast<unsigned char>(byte) >= 0x80) return false;
  }
  return true;
}

std::string with_utf8proc(std::string_view text, int options) {
  utf8proc_uint8_t* mapped = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &mapped,
                                   static_cast<utf8proc_option_t>(options));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(mapped, &std::free);
  if (length < 0) {
    throw Error(
        length == UTF8PROC_ERROR_NOMEM ? ErrorCode::kOutOfMemory : ErrorCode::kInvalidArgument,
        "text", std::string("no normal form: ") + utf8proc_errmsg(length));
  }
  return {reinterpret_cast<const char*>(mapped), static_cast<std::size_t>(length)};
}

}  // namespace

bool is_letter(char32_t c) {
  return revised(UnicodeProperty::kLetter, c)
      .value_or(in(category(c), UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO));
}

bool is_number(char32_t c) {
  return revised(UnicodeProperty::kNumber, c)
      .value_or(in(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO));
}

bool is_numeric(char32_t c) {
  return revised(UnicodeProperty::kNumeric, c)
      .value_or(in(category(c), UTF8PROC_CATEGORY_ND, UTF8PROC_CATEGORY_NO));
}

bool is_mark(char32_t c) {
  return revised(UnicodeProperty::kMark, c)
      .value_or(in(category(c), UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME));
}

bool is_nonspacing_mark(char32_t c) {
  return revised(UnicodeProperty::kNonspacingMark, c).value_or(category(c) == UTF8PROC_CATEGORY_MN);
}

bool is_punctuation(char32_t c) {
  return revised(UnicodeProperty::kPunctuation, c)
      .value_or(in(category(c), UTF8PROC_CATEGORY_PC, UTF8PROC_CATEGORY_PO));
}

bool is_control_or_format(char32_t c) {
  const auto kind = category(c);
  return revised(UnicodeProperty::kControlOrFormat, c)
      .value_or(kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
                kind == UTF8PROC_CATEGORY_CO);
}

bool is_white_space(char32_t c) {
  if (c < 0x80) return c == ' ' || (c >= 0x09 && c <= 0x0D);
  return c == 0x85 || c == 0xA0 || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) || c == 0x2028 ||
         c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000;
}

bool is_ascii_punctuation(char32_t c) {
  return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) ||
         (c >= 0x7B && c <= 0x7E);
}

bool is_word_character(char32_t c) {
  if (const auto known = revised(UnicodeProperty::kWordCharacter, c)) return *known;
  const auto kind = category(c);
  if (in(kind, UTF8PROC_CATEGORY_LU, UTF8PROC_CATEGORY_LO) ||
      in(kind, UTF8PROC_CATEGORY_MN, UTF8PROC_CATEGORY_ME) || kind == UTF8PROC_CATEGORY_ND ||
      kind == UTF8PROC_CATEGORY_NL || kind == UTF8PROC_CATEGORY_PC) {
    return true;
  }
  // Other_Alphabetic outside those categories: circled and squared Latin letters; and joiners.
  return (c >= 0x24B6 && c <= 0x24E9) || (c >= 0x1F130 && c <= 0x1F149) ||
         (c >= 0x1F150 && c <= 0x1F169) || (c >= 0x1F170 && c <= 0x1F189) || c == 0x200C ||
         c == 0x200D;
}

CharacterClass character_class(char32_t c) {
  return c < kTableSize ? class_table()[c] : classify(c);
}

std::string normalized(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  int options = UTF8PROC_STABLE;
  const bool compose = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool compatibility = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  options |= compose ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE;
  if (compatibility) options |= UTF8PROC_COMPAT;
  std::string out;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = character_at(text, at);
    if (stays_composed(c, compatibility)) {
      out += with_utf8proc(text.substr(begin, at - begin), options);
      out += text.substr(at, length);
      begin = at + length;
    }
    at += length;
  }
  return out += with_utf8proc(text.substr(begin), options);
}

std::string lower_case(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = character_at(text, at);
    at += length;
    if (c < 0x80) {
      out.push_back(static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c));
    } else if (c == 0x130) {
      out.append("i\xCC\x87");  // the one character whose lower case is two
    } else {
      const auto lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(c));
      append_utf8(out, revised_lower_case(c).value_or(static_cast<char32_t>(lower)));
    }
  }
  return out;
}

}  // namespace quire
