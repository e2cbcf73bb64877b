// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/error.h>

#include <set>
#include <string_view>

namespace quire {
namespace {

TEST(Error, SaysSubjectAndProblem) {
  const Error error(ErrorCode::kCorrupt, "model.gguf", "expected 4 bytes, found 2");
  EXPECT_EQ(error.code(), ErrorCode::kCorrupt);
  EXPECT_STREQ(error.what(), "model.gguf: expected 4 bytes, found 2");
}

TEST(Error, SubjectMayBeEmpty) {
  EXPECT_STREQ(Error(ErrorCode::kEmptyPrompt, "", "no token").what(), "no token");
}

TEST(Error, EveryCodeHasItsOwnSpelling) {
  std::set<std::string_view> names;
  for (int code = 0; code <= static_cast<int>(ErrorCode::kBadNumber); ++code) {
    EXPECT_TRUE(names.insert(to_string(static_cast<ErrorCode>(code))).second);
  }
  EXPECT_FALSE(names.contains("Unknown"));
}

}  // namespace
}  // namespace quire
