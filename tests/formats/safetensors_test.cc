// SPDX-License-Identifier: Apache-2.0
#include "formats/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

#include <string>
#include <string_view>
#include <vector>

#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class SafetensorsTest : public ::testing::Test {
 protected:
  SafetensorsFile open(std::string_view header, std::string_view data) const {
    return SafetensorsFile(folder_.write("a.safetensors", safetensors(header, data)));
  }

  std::string open_error(std::string_view header, std::string_view data) const {
    return error_of([&] { open(header, data); });
  }

  TestFolder folder_;
};

TEST_F(SafetensorsTest, OffersTensorsByPlace) {
  const SafetensorsFile file = open(
      R"({"b":{"dtype":"U8","shape":[3],"data_offsets":[8,11]},"__metadata__":{"k":"v"},
          "a":{"dtype":"F32","shape":[1,2],"data_offsets":[0,8],"more":[1]},
          "z":{"dtype":"BF16","shape":[0,4],"data_offsets":[8,8]}}   )",
      "aaaaaaaabbb");
  ASSERT_EQ(file.tensors().size(), 3u);
  EXPECT_EQ(file.tensors()[0].name, "a");
  EXPECT_EQ(file.tensors()[0].type, BlockType::kF32);
  EXPECT_THAT(file.tensors()[0].shape, ElementsAre(1, 2));
  EXPECT_EQ(file.tensors()[0].data.size(), 8u);
  EXPECT_EQ(file.tensors()[1].name, "z");
  EXPECT_EQ(file.tensors()[2].data[0], std::byte{'b'});
  EXPECT_EQ(file.tensors()[2].type, std::nullopt);
  EXPECT_EQ(file.tensors()[2].dtype, "U8");
}

TEST_F(SafetensorsTest, AFileMayHoldNothing) {
  EXPECT_TRUE(open("{}", "").tensors().empty());
  EXPECT_TRUE(open(R"({"__metadata__":null})", "").tensors().empty());
  EXPECT_THAT(open_error("{}", "x"), HasSubstr("1 bytes follow"));
}

TEST_F(SafetensorsTest, TypesOfLessThanAByteEndWithAWholeOne) {
  EXPECT_EQ(open_error(R"({"t":{"dtype":"F4","shape":[6],"data_offsets":[0,3]}})", "xxx"),
            "no error");
  EXPECT_EQ(open_error(R"({"t":{"dtype":"F6_E2M3","shape":[4],"data_offsets":[0,3]}})", "xxx"),
            "no error");
  EXPECT_THAT(open_error(R"({"t":{"dtype":"F4","shape":[5],"data_offsets":[0,3]}})", "xxx"),
              HasSubstr("a size that is possible"));
}

TEST_F(SafetensorsTest, NamesTheTensorAtFault) {
  const auto one = [this](std::string_view entry, std::string_view data) {
    return open_error("{\"x.y\":" + std::string(entry) + "}", data);
  };
  EXPECT_THAT(one(R"({"dtype":"F32","shape":[1],"data_offsets":[0,8]})", "12345678"),
              HasSubstr("x.y.data_offsets: expected 4 bytes for F32 [1], found 8"));
  EXPECT_THAT(one(R"({"dtype":"F32","shape":[2],"data_offsets":[0,8]})", "1234"),
              HasSubstr("x.y.data_offsets: needs bytes up to 8"));
  EXPECT_THAT(one(R"({"dtype":"F32","shape":[true],"data_offsets":[0,4]})", "1234"),
              HasSubstr("x.y.shape: expected integers"));
  EXPECT_THAT(one(R"({"dtype":"F32","shape":[1.0],"data_offsets":[0,4]})", "1234"),
              HasSubstr("x.y.shape: expected integers"));
  EXPECT_THAT(one("[]", ""), HasSubstr("x.y: expected an object, found array"));
}

TEST_F(SafetensorsTest, RefusesTwoOfOneName) {
  const std::string entry = R"("t":{"dtype":"F32","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(open_error("{" + entry + "," + entry + "}", ""), HasSubstr("t: stands twice"));
}

TEST_F(SafetensorsTest, BoundsTheHeader) {
  EXPECT_THAT(open_error(" {}", ""), HasSubstr("begins with {"));
  const auto with_length = [this](std::uint64_t length, const std::string& rest) {
    return error_of([&] { SafetensorsFile(folder_.write("b", bytes_of(length) + rest)); });
  };
  EXPECT_THAT(with_length(3, "{}"), HasSubstr("at most 2 bytes in a file of 10, found 3"));
  EXPECT_THAT(with_length(UINT64_MAX - 7, "{}"), HasSubstr("header length"));
  EXPECT_EQ(with_length(2, "{}"), "no error");
}

}  // namespace
}  // namespace quire
