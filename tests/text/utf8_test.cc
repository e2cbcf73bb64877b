// SPDX-License-Identifier: Apache-2.0
#include "text/utf8.h"

#include <gtest/gtest.h>

#include <string>

namespace quire {
namespace {

TEST(Utf8, MaximalIllFormedPartsBecomeOneReplacementEach) {
  // The example of the Unicode standard, section 3.9, table 3-8.
  EXPECT_EQ(to_valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"),
            "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  EXPECT_EQ(to_valid_utf8("\xC0\x80"), "\uFFFD\uFFFD");
  EXPECT_EQ(to_valid_utf8("\xF4\x90\x80\x80"), "\uFFFD\uFFFD\uFFFD\uFFFD");
}

TEST(Utf8, EveryCharacterIsValidAndReadBack) {
  for (char32_t c = 0; c < 0x110000; c += 7) {
    std::string text;
    append_utf8(text, c);
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(is_valid_utf8(text), !surrogate) << std::hex << static_cast<unsigned>(c);
    if (surrogate) continue;
    ASSERT_EQ(character_at(text, 0).value, c);
    ASSERT_EQ(previous_character(text, text.size()), 0U);
  }
}

TEST(Utf8, AssemblerGivesTheSameInAnySplit) {
  const std::string bytes =
      "a\xE4\xBD\xA0\xF0\x9F\x98\x80\xFF\xE4\xBD"
      "b\xC3";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    Utf8Assembler assembler;
    std::string first;
    assembler.push(bytes.substr(0, cut), first);
    EXPECT_TRUE(is_valid_utf8(first));
    std::string rest;
    assembler.push(bytes.substr(cut), rest);
    assembler.finish(rest);
    EXPECT_EQ(first + rest, to_valid_utf8(bytes));
  }
}

}  // namespace
}  // namespace quire
