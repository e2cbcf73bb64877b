// SPDX-License-Identifier: Apache-2.0
#include "generate/stopping.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

namespace quire {
namespace {

struct Outcome {
  std::string text;
  std::string stop;
  bool operator==(const Outcome&) const = default;
};

// Feeds `text` in two pieces cut at `cut`, then ends it.
Outcome run(const std::vector<std::string>& stops, std::string_view text, std::size_t cut) {
  StopFinder finder(stops);
  Outcome outcome;
  outcome.text = finder.push(text.substr(0, cut));
  outcome.text += finder.push(text.substr(cut));
  outcome.text += finder.finish();
  outcome.stop = finder.stop();
  return outcome;
}

void expect(const std::vector<std::string>& stops, std::string_view text, const Outcome& expected) {
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    SCOPED_TRACE(std::string(text) + " cut at " + std::to_string(cut));
    const Outcome outcome = run(stops, text, cut);
    EXPECT_EQ(outcome.text, expected.text);
    EXPECT_EQ(outcome.stop, expected.stop);
  }
}

TEST(StopFinder, CutsExactlyWhereverTheTextIsSplit) {
  expect({}, "plain", {"plain", ""});
  expect({"END"}, "one END two", {"one ", "END"});
  expect({"END"}, "one EN two", {"one EN two", ""});
  expect({"END"}, "END", {"", "END"});
  expect({"END"}, "ends with EN", {"ends with EN", ""});
  expect({"aab"}, "aaaab!", {"aa", "aab"});
  expect({"ü", "🙂"}, "a🙂ü", {"a", "🙂"});
}

TEST(StopFinder, TheFirstCompleteOneWins) {
  expect({"abcd", "bc"}, "xabcdx", {"xa", "bc"});
  expect({"bc", "abc"}, "xabcx", {"x", "abc"});
  expect({"\n\n", "\n"}, "a\n\nb", {"a", "\n"});
}

TEST(StopFinder, HoldsBackOnlyWhatMayBeginAStop) {
  StopFinder finder({"STOP", "x\ny"});
  EXPECT_EQ(finder.push("a ST"), "a ");
  EXPECT_EQ(finder.push("A"), "STA");
  EXPECT_EQ(finder.push("S"), "");
  EXPECT_EQ(finder.push("x"), "S");
  EXPECT_EQ(finder.push("\n"), "");
  EXPECT_FALSE(finder.found());
  EXPECT_EQ(finder.finish(), "x\n");
}

TEST(StopFinder, TakesNothingAfterAStop) {
  StopFinder finder({"."});
  EXPECT_EQ(finder.push("a.b"), "a");
  EXPECT_TRUE(finder.found());
  EXPECT_EQ(finder.push("c"), "");
  EXPECT_EQ(finder.finish(), "");
}

TEST(StopFinder, RefusesAnEmptyStop) {
  try {
    StopFinder({"a", ""});
    FAIL();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), ErrorCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace quire
