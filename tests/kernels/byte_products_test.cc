// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_products.h"

#include <cstdint>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "tests/kernels/isas.h"

namespace quire {
namespace {

class ByteProductsTest : public IsaTest {};
INSTANTIATE_TEST_SUITE_P(Isas, ByteProductsTest, testing::ValuesIn(machine_isas()), isa_test_name);

std::int64_t product(const std::int8_t* row, const std::vector<std::int16_t>& x) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += std::int64_t{row[i]} * std::int64_t{x[i]};
  return sum;
}

TEST_P(ByteProductsTest, EqualsTheDefinition) {
  std::mt19937 random(5);
  std::uniform_int_distribution<int> code(-127, 127);
  for (const std::size_t width : {1, 15, 16, 31, 33, 100, 384, 1000}) {
    constexpr std::size_t kRows = 7;
    std::vector<std::int8_t> rows(kRows * width);
    for (auto& value : rows) value = static_cast<std::int8_t>(code(random));
    std::vector<std::int16_t> x(width);
    for (auto& value : x) value = static_cast<std::int16_t>(code(random));
    std::vector<std::int32_t> products(kRows, -1);
    kernels::multiply_bytes(rows.data(), kRows, static_cast<std::int64_t>(width), x.data(),
                            products.data());
    for (std::size_t r = 0; r < kRows; ++r) {
      EXPECT_EQ(products[r], product(rows.data() + r * width, x)) << width << " row " << r;
    }
  }
}

TEST_P(ByteProductsTest, HoldsTheGreatestSums) {
  constexpr std::size_t kWidth = (1 << 17) - 1;
  for (const int code : {127, -127}) {
    const std::vector<std::int8_t> row(kWidth, static_cast<std::int8_t>(code));
    const std::vector<std::int16_t> x(kWidth, 127);
    std::int32_t sum = 0;
    kernels::multiply_bytes(row.data(), 1, static_cast<std::int64_t>(kWidth), x.data(), &sum);
    EXPECT_EQ(sum, product(row.data(), x));
  }
}

}  // namespace
}  // namespace quire
