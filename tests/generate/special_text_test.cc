// SPDX-License-Identifier: Apache-2.0
#include "generate/special_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace quire {
namespace {

using Span = SpecialText::Span;

TEST(SpecialText, FindsTheLeftmostAndLongest) {
  const SpecialText special({"<s>", "<s>x", "</s>", ""});
  EXPECT_THAT(special.find("a<s>xb</s><s>"),
              testing::ElementsAre(Span{1, 4}, Span{6, 4}, Span{10, 3}));
  EXPECT_THAT(special.find("<s <"), testing::IsEmpty());
  EXPECT_THAT(SpecialText(std::vector<std::string>{}).find("<s>"), testing::IsEmpty());
}

TEST(SpecialText, BreaksUpWhatSpellsOne) {
  const SpecialText special({"<|end|>", "｜x｜"});
  EXPECT_EQ(special.break_up("a<|end|>b", "#"), "a<#|end|>b");
  EXPECT_EQ(special.break_up("｜x｜ y", "#"), "｜#x｜ y");
  EXPECT_EQ(special.break_up("plain < text", "#"), "plain < text");
}

TEST(SpecialText, BreaksUpWhatTheRestMightComplete) {
  const SpecialText special({"<|end|>"});
  EXPECT_EQ(special.break_up("a<|en", "#"), "a<#|en");
  EXPECT_EQ(special.break_up("a<|en \n", "#"), "a<#|en \n");
  EXPECT_EQ(special.break_up("<", "#"), "<#");
  EXPECT_EQ(special.break_up("a<|enx", "#"), "a<|enx");
  EXPECT_EQ(special.break_up("", "#"), "");
}

TEST(SpecialText, NoOccurrenceSurvives) {
  const SpecialText special({"aa", "aba"});
  for (const char* text : {"aaaa", "abaaba", "babab", "a"}) {
    EXPECT_THAT(special.find(special.break_up(text, "#")), testing::IsEmpty()) << text;
  }
}

}  // namespace
}  // namespace quire
