// SPDX-License-Identifier: Apache-2.0
#include "io/mapped_file.h"

#include <gtest/gtest.h>
#include <quire/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include "io/read_file.h"

namespace quire {
namespace {

class MappedFileTest : public ::testing::Test {
 protected:
  MappedFileTest() : folder_(std::filesystem::path(::testing::TempDir()) / "quire_mapped_file") {
    std::filesystem::create_directories(folder_);
  }
  ~MappedFileTest() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  static ErrorCode map_error(const std::filesystem::path& path) {
    try {
      const MappedFile file(path);
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(path.native()), std::string::npos) << error.what();
      return error.code();
    }
    ADD_FAILURE() << "no error for " << path;
    return ErrorCode::kInvalidArgument;
  }

  const std::filesystem::path folder_;
};

TEST_F(MappedFileTest, ShowsTheBytes) {
  const MappedFile file(write("a", std::string("x\0y", 3)));
  EXPECT_EQ(file.text(), std::string_view("x\0y", 3));
  EXPECT_EQ(file.size(), 3u);
  EXPECT_EQ(read_file(file.path()), file.text());
}

TEST_F(MappedFileTest, AnEmptyFileIsEmpty) {
  const MappedFile file(write("empty", ""));
  EXPECT_TRUE(file.bytes().empty());
  EXPECT_EQ(read_file(file.path()), "");
}

TEST_F(MappedFileTest, MovesAndOutlivesTheName) {
  MappedFile first(write("a", "aaaa"));
  MappedFile second(write("b", "bb"));
  second = std::move(first);
  std::filesystem::remove(folder_ / "a");
  EXPECT_EQ(second.text(), "aaaa");
  const MappedFile third(std::move(second));
  EXPECT_EQ(third.text(), "aaaa");
}

TEST_F(MappedFileTest, DroppedPagesReadTheSameAgain) {
  const std::string text(100'000, 'q');
  const MappedFile file(write("big", text));
  EXPECT_EQ(file.text(), text);
  drop_pages(file.bytes().subspan(1, 50'000));
  drop_pages(file.bytes());
  drop_pages(file.bytes().first(0));
  EXPECT_EQ(file.text(), text);
}

TEST_F(MappedFileTest, RefusesWhatIsNoFile) {
  EXPECT_EQ(map_error(folder_ / "absent"), ErrorCode::kNotFound);
  EXPECT_EQ(map_error(write("a", "x") / "below"), ErrorCode::kNotFound);
  EXPECT_EQ(map_error(folder_), ErrorCode::kIo);
  EXPECT_EQ(map_error("/dev/zero"), ErrorCode::kIo);
  const std::filesystem::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_EQ(map_error(pipe), ErrorCode::kIo);
}

TEST_F(MappedFileTest, ReadFileReportsTheSameErrors) {
  EXPECT_THROW(read_file(folder_ / "absent"), Error);
  EXPECT_THROW(read_file(folder_), Error);
}

}  // namespace
}  // namespace quire
