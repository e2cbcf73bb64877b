// SPDX-License-Identifier: Apache-2.0
#include "formats/gguf.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/error.h>

#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class GgufTest : public ::testing::Test {
 protected:
  GgufFile open() const { return GgufFile(folder_.write("a.gguf", builder_.build())); }

  std::string open_error() const {
    return error_of([&] { open(); });
  }

  // What a getter says of the file.
  std::string error(const std::function<void(const GgufFile&)>& read) const {
    return error_of([&] { read(open()); });
  }

  TestFolder folder_;
  GgufBuilder builder_;
};

TEST_F(GgufTest, ReadsEveryTypeOfValue) {
  builder_.entry("u8", GgufType::kUint8, bytes_of<std::uint8_t>(200));
  builder_.entry("i8", GgufType::kInt8, bytes_of<std::int8_t>(-3));
  builder_.entry("u16", GgufType::kUint16, bytes_of<std::uint16_t>(60000));
  builder_.entry("i16", GgufType::kInt16, bytes_of<std::int16_t>(-5));
  builder_.entry("u32", GgufType::kUint32, bytes_of<std::uint32_t>(4000000000u));
  builder_.entry("i32", GgufType::kInt32, bytes_of<std::int32_t>(-7));
  builder_.entry("u64", GgufType::kUint64, bytes_of<std::uint64_t>(INT64_MAX));
  builder_.entry("i64", GgufType::kInt64, bytes_of<std::int64_t>(INT64_MIN));
  builder_.entry("f32", GgufType::kFloat32, bytes_of(0.1f));
  builder_.entry("f64", GgufType::kFloat64, bytes_of(0.1));
  builder_.entry("yes", GgufType::kBool, bytes_of<std::uint8_t>(1));
  builder_.entry("no", GgufType::kBool, bytes_of<std::uint8_t>(0));
  builder_.text("text", "世界");
  builder_.text("none", "");
  const GgufFile file = open();
  EXPECT_EQ(file.integer("u8"), 200);
  EXPECT_EQ(file.integer("i8"), -3);
  EXPECT_EQ(file.integer("u16"), 60000);
  EXPECT_EQ(file.integer("i16"), -5);
  EXPECT_EQ(file.integer("u32"), 4000000000);
  EXPECT_EQ(file.integer("i32"), -7);
  EXPECT_EQ(file.integer("u64"), INT64_MAX);
  EXPECT_EQ(file.integer("i64"), INT64_MIN);
  EXPECT_EQ(file.number("f32"), double{0.1f});
  EXPECT_EQ(file.number("f64"), 0.1);
  EXPECT_EQ(file.number("i16"), -5.0);
  EXPECT_TRUE(file.boolean("yes"));
  EXPECT_FALSE(file.boolean("no"));
  EXPECT_EQ(file.string("text"), "世界");
  EXPECT_EQ(file.string("none"), "");
  EXPECT_EQ(file.entries().size(), 14u);
  EXPECT_EQ(file.version(), 3u);
}

TEST_F(GgufTest, ReadsArrays) {
  builder_.array("texts", GgufType::kString, 3,
                 gguf_string("a") + gguf_string("") + gguf_string("ccc"));
  builder_.array("floats", GgufType::kFloat32, 2, bytes_of(1.5f) + bytes_of(-2.0f));
  builder_.array("shorts", GgufType::kInt16, 2,
                 bytes_of<std::int16_t>(-1) + bytes_of<std::int16_t>(9));
  builder_.array("bools", GgufType::kBool, 2, std::string("\1\0", 2));
  builder_.array("empty", GgufType::kUint32, 0, "");
  const std::string inner =
      bytes_of<std::uint32_t>(4) + bytes_of<std::uint64_t>(1) + bytes_of<std::uint32_t>(7);
  builder_.array("nested", GgufType::kArray, 2, inner + inner);
  const GgufFile file = open();
  EXPECT_THAT(file.strings("texts"), ElementsAre("a", "", "ccc"));
  EXPECT_THAT(file.floats("floats"), ElementsAre(1.5f, -2.0f));
  EXPECT_THAT(file.integers("shorts"), ElementsAre(-1, 9));
  EXPECT_TRUE(file.integers("empty").empty());
  EXPECT_EQ(file.find("bools")->count, 2u);
  EXPECT_EQ(file.find("nested")->element, GgufType::kArray);
  EXPECT_EQ(file.find("nested")->data.size(), 2 * inner.size());
}

TEST_F(GgufTest, GettersNameKeyExpectedAndFound) {
  builder_.text("text", "x");
  builder_.entry("big", GgufType::kUint64, bytes_of<std::uint64_t>(UINT64_MAX));
  builder_.entry("nan", GgufType::kFloat32, bytes_of(std::nanf("")));
  builder_.array("ids", GgufType::kUint32, 2, std::string(8, '\0'));
  builder_.array("scores", GgufType::kFloat32, 2,
                 bytes_of(1.0f) + bytes_of(std::numeric_limits<float>::infinity()));
  EXPECT_THAT(error([](const GgufFile& f) { f.integer("gone"); }),
              HasSubstr("a.gguf: gone: is missing"));
  EXPECT_THAT(error([](const GgufFile& f) { f.integer("text"); }),
              HasSubstr("a.gguf: text: expected an integer, found string"));
  EXPECT_THAT(error([](const GgufFile& f) { f.integer("big"); }), HasSubstr("below 2^63"));
  EXPECT_THAT(error([](const GgufFile& f) { f.number("nan"); }), HasSubstr("finite"));
  EXPECT_THAT(error([](const GgufFile& f) { f.number("text"); }), HasSubstr("a number"));
  EXPECT_THAT(error([](const GgufFile& f) { f.boolean("ids"); }),
              HasSubstr("expected a bool, found array of 2 uint32"));
  EXPECT_THAT(error([](const GgufFile& f) { f.string("ids"); }), HasSubstr("a string"));
  EXPECT_THAT(error([](const GgufFile& f) { f.strings("ids"); }),
              HasSubstr("expected an array of strings, found array of 2 uint32"));
  EXPECT_THAT(error([](const GgufFile& f) { f.strings("text"); }), HasSubstr("found string"));
  EXPECT_THAT(error([](const GgufFile& f) { f.floats("ids"); }), HasSubstr("of float32"));
  EXPECT_THAT(error([](const GgufFile& f) { f.floats("scores"); }), HasSubstr("found inf at 1"));
  EXPECT_THAT(error([](const GgufFile& f) { f.integers("scores"); }), HasSubstr("of integers"));
  EXPECT_EQ(open().integer_or("gone", 4), 4);
  EXPECT_EQ(open().string_or("gone", "d"), "d");
  EXPECT_THAT(error([](const GgufFile& f) { f.integer_or("text", 4); }), HasSubstr("an integer"));
}

TEST_F(GgufTest, RefusesWhatTheFormatForbids) {
  const auto with = [this](const std::function<void(GgufBuilder&)>& change) {
    builder_ = {};
    change(builder_);
    return open_error();
  };
  EXPECT_THAT(with([](auto& b) { b.text("k", "\xFF"); }), HasSubstr("k: expected UTF-8"));
  EXPECT_THAT(with([](auto& b) { b.text("\xFF", "v"); }), HasSubstr("UTF-8"));
  EXPECT_THAT(with([](auto& b) { b.text("", "v"); }), HasSubstr("key is empty"));
  EXPECT_THAT(with([](auto& b) { b.text(std::string(70000, 'k'), "v"); }),
              HasSubstr("70000 bytes"));
  EXPECT_THAT(with([](auto& b) { b.entry("k", GgufType::kBool, "\2"); }), HasSubstr("0 or 1"));
  EXPECT_THAT(with([](auto& b) { b.array("k", GgufType::kBool, 1, "\2"); }), HasSubstr("0 or 1"));
  EXPECT_THAT(with([](auto& b) { b.version = 4; }), HasSubstr("version"));
  EXPECT_THAT(with([](auto& b) { b.version = 0x03000000; }), HasSubstr("big-endian"));
  EXPECT_THAT(with([](auto& b) {
                b.text("k", "1");
                b.text("k", "1");
              }),
              HasSubstr("k: stands twice"));
}

TEST_F(GgufTest, BoundsNesting) {
  const auto nested = [](int levels) {
    std::string value;
    for (int i = 1; i < levels; ++i)
      value += bytes_of<std::uint32_t>(9) + bytes_of<std::uint64_t>(1);
    return value + bytes_of<std::uint32_t>(0) + bytes_of<std::uint64_t>(1) + '\7';
  };
  builder_.entry("k", GgufType::kArray, nested(8));
  EXPECT_EQ(open_error(), "no error");
  builder_ = {};
  builder_.entry("k", GgufType::kArray, nested(9));
  EXPECT_THAT(open_error(), HasSubstr("k: arrays are nested deeper than 8"));
}

TEST_F(GgufTest, OffersTensorsOutermostDimensionFirst) {
  builder_.tensor("a", {32, 3}, 8, std::string(3 * 34, 'q'));
  builder_.tensor("b", {2, 3, 4}, 0, std::string(96, 'f'));
  builder_.tensor("scalar", {}, 0, std::string(4, 's'));
  builder_.tensor("double", {2}, 28, std::string(16, 'd'));
  const GgufFile file = open();
  ASSERT_EQ(file.tensors().tensors().size(), 4u);
  const TensorInfo* a = file.tensors().find("a", "");
  ASSERT_NE(a, nullptr);
  EXPECT_EQ(a->type, BlockType::kQ8_0);
  EXPECT_THAT(a->shape, ElementsAre(3, 32));
  EXPECT_EQ(a->data.size(), 3u * 34);
  EXPECT_EQ(a->data[0], std::byte{'q'});
  EXPECT_THAT(file.tensors().find("b", "")->shape, ElementsAre(4, 3, 2));
  EXPECT_EQ(file.tensors().find("scalar", "")->data[3], std::byte{'s'});
  EXPECT_EQ(file.tensors().find("double", "")->type, BlockType::kF64);
  EXPECT_EQ(file.tensors().find("c", ""), nullptr);
}

TEST_F(GgufTest, IntegersAreNoWeights) {
  builder_.tensor("ids", {4}, 26, std::string(16, '\0'));
  const GgufFile file = open();
  EXPECT_TRUE(file.tensors().tensors().empty());
  EXPECT_EQ(error_of([&] { (void)file.tensors().find("ids", "a.gguf"); }),
            "Unsupported a.gguf: tensor \"ids\": expected weights, found type I32");
}

TEST_F(GgufTest, NamesTensorTypesItCannotRead) {
  builder_.tensor("t", {256}, 23, std::string(136, '\0'));
  EXPECT_THAT(open_error(), HasSubstr("t: tensor type IQ4_XS is not supported"));
  EXPECT_THAT(open_error(), HasSubstr("Unsupported"));
  builder_ = {};
  builder_.tensor("t", {256}, 33, std::string(136, '\0'));
  EXPECT_THAT(open_error(), HasSubstr("Corrupt"));
}

TEST_F(GgufTest, TensorsFollowEachOther) {
  builder_.tensor("first", {8}, 0, std::string(32, '\0'));
  builder_.data += std::string(32, '\0');
  builder_.tensor("second", {8}, 0, std::string(32, '\0'));
  EXPECT_THAT(open_error(), HasSubstr("second: expected offset 32"));
  EXPECT_THAT(open_error(), HasSubstr("found 64"));
}

TEST_F(GgufTest, HonoursTheAlignment) {
  builder_.alignment = 128;
  builder_.entry("general.alignment", GgufType::kUint32, bytes_of<std::uint32_t>(128));
  builder_.tensor("a", {1}, 0, "aaaa");
  builder_.tensor("b", {1}, 0, "bbbb");
  const GgufFile file = open();
  EXPECT_EQ(file.alignment(), 128u);
  EXPECT_EQ(file.tensors().find("b", "")->data[0], std::byte{'b'});
}

TEST_F(GgufTest, HasMagicLooksAtTheFirstFourBytes) {
  EXPECT_TRUE(GgufFile::has_magic(folder_.write("a", "GGUF")));
  EXPECT_FALSE(GgufFile::has_magic(folder_.write("b", "GGU")));
  EXPECT_FALSE(GgufFile::has_magic(folder_.write("c", "GGML....")));
  EXPECT_THAT(error_of([&] { GgufFile::has_magic(folder_.path() / "d"); }), HasSubstr("NotFound"));
}

}  // namespace
}  // namespace quire
