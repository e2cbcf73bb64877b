// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "io/quote.h"
#include "io/utf8.h"

namespace quire {
namespace {

// The UTF-8 of a code point, written independently of the reader: surrogates too.
std::string encode(std::uint32_t c) {
  const auto byte = [](std::uint32_t value) { return std::string(1, static_cast<char>(value)); };
  if (c < 0x80) return byte(c);
  if (c < 0x800) return byte(0xC0 | c >> 6) + byte(0x80 | (c & 63));
  const std::string tail = byte(0x80 | (c >> 6 & 63)) + byte(0x80 | (c & 63));
  if (c < 0x10000) return byte(0xE0 | c >> 12) + tail;
  return byte(0xF0 | c >> 18) + byte(0x80 | (c >> 12 & 63)) + tail;
}

TEST(Utf8, TakesEveryCodePointAndNoSurrogate) {
  for (std::uint32_t c = 0; c < 0x120000; ++c) {
    const std::string text = encode(c);
    const bool valid = c < 0x110000 && (c < 0xD800 || c > 0xDFFF);
    ASSERT_EQ(utf8_sequence(text + "x"), valid ? text.size() : 0) << c;
    ASSERT_EQ(is_utf8("12345678" + text), valid) << c;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      ASSERT_EQ(utf8_sequence(text.substr(0, cut)), 0u) << c;
      ASSERT_EQ(utf8_sequence(text.substr(0, cut) + "x"), 0u) << c;
    }
  }
}

TEST(Utf8, RefusesOverlongFormsAndStrayBytes) {
  for (const char* text :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xE0\x9F\xBF", "\xF0\x80\x80\x80",
        "\xF0\x8F\xBF\xBF", "\x80", "\xBF", "\xF5\x80\x80\x80", "\xFF", "\xFE"}) {
    EXPECT_FALSE(is_utf8(text));
    EXPECT_EQ(utf8_sequence(text), 0u);
  }
  EXPECT_TRUE(is_utf8(""));
  EXPECT_EQ(utf8_sequence(""), 0u);
}

TEST(Quote, IsShortAndValid) {
  EXPECT_EQ(quote("a 世界"), "\"a 世界\"");
  EXPECT_EQ(quote(std::string_view("\0\x1B[2J\xFF", 6)), "\"\\x00\\x1b[2J\\xff\"");
  const std::string cut = quote(std::string(1'000'000, 'x'));
  EXPECT_LT(cut.size(), 120u);
  EXPECT_TRUE(cut.ends_with("…\""));
  std::string crowd;
  for (int i = 0; i < 100; ++i) crowd += "世";
  EXPECT_TRUE(is_utf8(quote(crowd)));
}

TEST(Label, QuotesOnlyWhatNeedsIt) {
  EXPECT_EQ(label("model.norm.weight"), "model.norm.weight");
  EXPECT_EQ(label(""), "\"\"");
  EXPECT_EQ(label("a\nb"), "\"a\\x0ab\"");
  EXPECT_LT(label(std::string(1000, 'x')).size(), 120u);
}

}  // namespace
}  // namespace quire
