// SPDX-License-Identifier: Apache-2.0
#include "formats/dequantize.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/checkpoint.h>
#include <quire/error.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include "formats/block.h"
#include "formats/half.h"
#include "io/read_file.h"
#include "tests/formats/model_files.h"

namespace quire {
namespace {

using ::testing::HasSubstr;

constexpr BlockType kAllTypes[] = {
    BlockType::kF32,  BlockType::kF16,  BlockType::kBF16, BlockType::kF64,  BlockType::kQ4_0,
    BlockType::kQ4_1, BlockType::kQ5_0, BlockType::kQ5_1, BlockType::kQ8_0, BlockType::kQ2_K,
    BlockType::kQ3_K, BlockType::kQ4_K, BlockType::kQ5_K, BlockType::kQ6_K,
};

class DequantizeTest : public ::testing::TestWithParam<BlockType> {
 protected:
  DequantizeTest() {
    const std::filesystem::path folder = std::filesystem::path(QUIRE_TEST_DATA) / "blocks";
    const std::string name(to_string(GetParam()));
    blocks_ = read_file(folder / (name + ".blocks"));
    const std::string values = read_file(folder / (name + ".f32"));
    expected_.resize(values.size() / sizeof(float));
    std::memcpy(expected_.data(), values.data(), values.size());
  }

  std::span<const std::byte> blocks() const { return std::as_bytes(std::span(blocks_)); }

  // Bit for bit, but for which NaN.
  void expect_values(std::span<const float> found, std::size_t first) const {
    for (std::size_t i = 0; i < found.size(); ++i) {
      const float expected = expected_[first + i];
      if (std::isnan(expected) && std::isnan(found[i])) continue;
      ASSERT_EQ(std::bit_cast<std::uint32_t>(found[i]), std::bit_cast<std::uint32_t>(expected))
          << to_string(GetParam()) << " weight " << first + i << ": " << found[i] << " instead of "
          << expected;
    }
  }

  std::string blocks_;
  std::vector<float> expected_;
};

TEST_P(DequantizeTest, EqualsTheReference) {
  ASSERT_EQ(expected_.size(), 8192u);
  std::vector<float> found(expected_.size());
  dequantize(GetParam(), blocks().data(), std::ssize(found), found.data());
  expect_values(found, 0);
}

TEST_P(DequantizeTest, ReadsFromAnyAddress) {
  const std::string shifted = 'x' + blocks_;
  std::vector<float> found(expected_.size());
  dequantize(GetParam(), std::as_bytes(std::span(shifted)).data() + 1, std::ssize(found),
             found.data());
  expect_values(found, 0);
}

TEST_P(DequantizeTest, AnyRowsEqualThoseOfTheWhole) {
  const TensorInfo tensor{"t", GetParam(), {4, 4, 512}, blocks()};
  for (const std::int64_t first : {0, 1, 7, 15}) {
    for (const std::int64_t count : {0, 1, 16}) {
      if (first + count > 16) continue;
      std::vector<float> found(static_cast<std::size_t>(count * 512));
      dequantize_rows(tensor, first, count, found);
      expect_values(found, static_cast<std::size_t>(first * 512));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Types, DequantizeTest, ::testing::ValuesIn(kAllTypes),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST(DequantizeRows, RefusesRowsThatAreNotThere) {
  const std::vector<float> values(12);
  const TensorInfo tensor{"t", BlockType::kF32, {3, 4}, std::as_bytes(std::span(values))};
  std::vector<float> out(8);
  EXPECT_NO_THROW(dequantize_rows(tensor, 1, 2, out));
  const auto error = [&](std::int64_t first, std::int64_t count) {
    return error_of([&] { dequantize_rows(tensor, first, count, out); });
  };
  EXPECT_THAT(error(2, 2), HasSubstr("InvalidArgument t: expected some of its 3 rows of 4"));
  EXPECT_THAT(error(-1, 2), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error(INT64_MAX, 2), HasSubstr("InvalidArgument"));
  EXPECT_THAT(error(0, 1), HasSubstr("into 8"));
}

TEST(Half, EqualsItsDefinition) {
  for (std::uint32_t bits = 0; bits <= 0xFFFF; ++bits) {
    const int exponent = static_cast<int>(bits >> 10 & 31);
    const double mantissa = bits & 1023;
    const double sign = (bits & 0x8000) != 0 ? -1 : 1;
    const float found = float_of_half(static_cast<std::uint16_t>(bits));
    ASSERT_EQ(std::signbit(found), sign < 0) << bits;
    if (exponent == 31) {
      ASSERT_EQ(std::isnan(found), mantissa != 0) << bits;
      ASSERT_EQ(std::isinf(found), mantissa == 0) << bits;
    } else if (exponent == 0) {
      ASSERT_EQ(found, sign * std::ldexp(mantissa, -24)) << bits;
    } else {
      ASSERT_EQ(found, sign * std::ldexp(1024 + mantissa, exponent - 25)) << bits;
    }
  }
}

TEST(Block, CountsBytes) {
  const auto bytes = [](BlockType type, std::vector<std::int64_t> shape) {
    return byte_count(type, shape);
  };
  EXPECT_EQ(bytes(BlockType::kF32, {}), 4);
  EXPECT_EQ(bytes(BlockType::kF16, {3, 5}), 30);
  EXPECT_EQ(bytes(BlockType::kQ4_0, {2, 64}), 2 * 2 * 18);
  EXPECT_EQ(bytes(BlockType::kQ6_K, {256}), 210);
  EXPECT_EQ(bytes(BlockType::kF32, {0, INT64_MAX}), 0);
  EXPECT_EQ(bytes(BlockType::kQ4_0, {64, 2}), std::nullopt);
  EXPECT_EQ(bytes(BlockType::kQ4_K, {32}), std::nullopt);
  EXPECT_EQ(bytes(BlockType::kF32, {-1}), std::nullopt);
  EXPECT_EQ(bytes(BlockType::kF32, {INT64_MAX / 4 + 1}), std::nullopt);
  EXPECT_EQ(bytes(BlockType::kF32, {std::int64_t{1} << 32, std::int64_t{1} << 32}), std::nullopt);
}

TEST(Block, EveryTypeHasItsNameAndSize) {
  for (const BlockType type : kAllTypes) {
    EXPECT_NE(to_string(type), "unknown");
    EXPECT_GT(layout_of(type).bytes, 0);
    EXPECT_EQ(8192 % layout_of(type).elements, 0);
  }
}

}  // namespace
}  // namespace quire
