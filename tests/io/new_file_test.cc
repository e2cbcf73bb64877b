// SPDX-License-Identifier: Apache-2.0
#include "io/new_file.h"

#include <gtest/gtest.h>
#include <quire/error.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "io/read_file.h"

namespace quire {
namespace {

namespace fs = std::filesystem;

class NewFileTest : public ::testing::Test {
 protected:
  NewFileTest() : folder_(fs::path(::testing::TempDir()) / "quire_new_file") {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~NewFileTest() override { fs::remove_all(folder_); }

  static void write(const fs::path& path, std::string_view text) {
    NewFile file(path);
    file.write(text.substr(0, 2));
    file.write(text.substr(2));
    file.publish();
  }
  std::ptrdiff_t count() const {
    return std::distance(fs::directory_iterator(folder_), fs::directory_iterator());
  }

  const fs::path folder_;
};

TEST_F(NewFileTest, TakesThePlaceOfTheOldOne) {
  write(folder_ / "a", "first");
  EXPECT_EQ(read_file(folder_ / "a"), "first");
  write(folder_ / "a", "second");
  EXPECT_EQ(read_file(folder_ / "a"), "second");
  EXPECT_EQ(count(), 1);
}

TEST_F(NewFileTest, LeavesNothingUnlessPublished) {
  write(folder_ / "a", "first");
  {
    NewFile file(folder_ / "a");
    file.write(std::string_view("second"));
  }
  EXPECT_EQ(read_file(folder_ / "a"), "first");
  EXPECT_EQ(count(), 1);
}

TEST_F(NewFileTest, TakesAwayWhatADeadProcessLeft) {
  const pid_t child = fork();
  if (child == 0) {
    auto* const file = new NewFile(folder_ / "a");
    file->write(std::string_view("half"));
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  ASSERT_EQ(count(), 1);
  std::ofstream(folder_ / ".b.partial-1-1") << "another file's";
  NewFile living(folder_ / "a");
  living.write(std::string_view("living"));
  EXPECT_EQ(count(), 2) << "the leftover went, and the other's stayed";
  write(folder_ / "a", "second");
  EXPECT_EQ(count(), 3) << "the living one stayed";
  living.publish();
  EXPECT_EQ(read_file(folder_ / "a"), "living");
  EXPECT_EQ(count(), 2);
}

TEST_F(NewFileTest, ReplacesTheFileBehindALink) {
  write(folder_ / "a", "first");
  fs::create_symlink("a", folder_ / "link");
  write(folder_ / "link", "second");
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read_file(folder_ / "a"), "second");
}

TEST_F(NewFileTest, WantsAFolder) {
  try {
    NewFile file(folder_ / "no" / "a");
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kNotFound);
  }
}

}  // namespace
}  // namespace quire
