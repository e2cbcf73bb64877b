// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/error.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "io/new_folder.h"
#include "io/output_file.h"
#include "io/read_file.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

class OutputTest : public ::testing::Test {
 protected:
  OutputTest()
      : folder_(fs::path(::testing::TempDir()) /
                ("quire_output_" +
                 std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~OutputTest() override { fs::remove_all(folder_); }

  // The names of everything in the test's folder.
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      result.push_back(entry.path().filename());
    }
    std::sort(result.begin(), result.end());
    return result;
  }

  template <typename Action>
  static ErrorCode code_of(const Action& action) {
    try {
      action();
    } catch (const Error& error) {
      return error.code();
    }
    ADD_FAILURE() << "no error";
    return ErrorCode::kBadNumber;
  }

  const fs::path folder_;
};

using Names = std::vector<std::string>;

TEST_F(OutputTest, FileHoldsWhatWasWritten) {
  OutputFile file(folder_ / "a");
  const std::string large(3'000'000, 'x');
  file.write("head");
  file.write(large);
  file.write("");
  file.finish();
  EXPECT_EQ(read_file(folder_ / "a"), "head" + large);
}

TEST_F(OutputTest, FileReplacesNothing) {
  write_new_file(folder_ / "a", "first");
  EXPECT_EQ(code_of([&] { write_new_file(folder_ / "a", "second"); }), ErrorCode::kIo);
  EXPECT_EQ(read_file(folder_ / "a"), "first");
  EXPECT_EQ(code_of([&] { OutputFile file(folder_ / "none" / "a"); }), ErrorCode::kNotFound);
}

TEST_F(OutputTest, FolderAppearsWhenPublished) {
  NewFolder folder(folder_ / "out" / "");
  EXPECT_EQ(folder.target(), fs::canonical(folder_) / "out");
  write_new_file(folder.path() / "a", "text");
  EXPECT_FALSE(fs::exists(folder_ / "out"));
  folder.publish();
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(read_file(folder_ / "out" / "a"), "text");
}

TEST_F(OutputTest, FolderTakesThePlaceOfAnEmptyOne) {
  fs::create_directory(folder_ / "out");
  NewFolder folder(folder_ / "out");
  write_new_file(folder.path() / "a", "text");
  folder.publish();
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(read_file(folder_ / "out" / "a"), "text");
}

TEST_F(OutputTest, UnpublishedFolderLeavesNothing) {
  {
    const NewFolder folder(folder_ / "new" / "newer" / "out");
    write_new_file(folder.path() / "a", "text");
    EXPECT_EQ(names(), Names{"new"});
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(OutputTest, UnpublishedFolderLeavesWhatOthersMadeBesideIt) {
  {
    const NewFolder folder(folder_ / "new" / "out");
    write_new_file(folder_ / "new" / "other", "text");
  }
  EXPECT_EQ(names(), Names{"new"});
  EXPECT_EQ(read_file(folder_ / "new" / "other"), "text");
}

TEST_F(OutputTest, FolderRefusesATakenPlace) {
  fs::create_directory(folder_ / "full");
  write_new_file(folder_ / "full" / "a", "text");
  write_new_file(folder_ / "file", "text");
  for (const char* name : {"full", "file"}) {
    EXPECT_EQ(code_of([&] { const NewFolder folder(folder_ / name); }),
              ErrorCode::kInvalidArgument);
  }
  EXPECT_EQ(names(), (Names{"file", "full"}));
  EXPECT_EQ(read_file(folder_ / "full" / "a"), "text");
}

TEST_F(OutputTest, FolderNeverReplacesOneThatWasFilledMeanwhile) {
  {
    NewFolder folder(folder_ / "out");
    fs::create_directory(folder_ / "out");
    write_new_file(folder_ / "out" / "a", "other");
    EXPECT_EQ(code_of([&] { folder.publish(); }), ErrorCode::kIo);
  }
  EXPECT_EQ(names(), Names{"out"});
  EXPECT_EQ(read_file(folder_ / "out" / "a"), "other");
}

}  // namespace
}  // namespace quire
