// SPDX-License-Identifier: Apache-2.0
#include "kernels/packed_matrix.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <set>
#include <stdexcept>
#include <vector>

#include "gmock/gmock.h"
#include "kernels/half.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

using std::int64_t;

RowSource rows_of(const std::vector<float>& values, int64_t k) {
  return [&values, k](int64_t first, int64_t count, float* out) {
    std::memcpy(out, values.data() + first * k, static_cast<std::size_t>(count * k) * 4);
  };
}

TEST(HalfTest, EveryPatternSurvivesTheRoundTrip) {
  for (int bits = 0; bits < 1 << 16; ++bits) {
    const auto pattern = static_cast<std::uint16_t>(bits);
    if (std::isnan(float_from_bf16(pattern))) {
      EXPECT_TRUE(std::isnan(float_from_bf16(bf16_from_float(float_from_bf16(pattern)))));
    } else {
      EXPECT_EQ(bf16_from_float(float_from_bf16(pattern)), pattern);
    }
    if (std::isnan(float_from_f16(pattern))) {
      EXPECT_TRUE(std::isnan(float_from_f16(f16_from_float(float_from_f16(pattern)))));
    } else {
      EXPECT_EQ(f16_from_float(float_from_f16(pattern)), pattern);
    }
  }
}

// Between two neighbours: below the middle goes down, above goes up, the middle to the even one.
void expect_rounding(std::uint16_t low, float (*widen)(std::uint16_t),
                     std::uint16_t (*narrow)(float)) {
  const auto high = static_cast<std::uint16_t>(low + 1);
  const float middle = widen(low) / 2 + widen(high) / 2;
  EXPECT_EQ(narrow(std::nextafter(middle, 0.0F)), low);
  EXPECT_EQ(narrow(std::nextafter(middle, std::numeric_limits<float>::infinity())), high);
  EXPECT_EQ(narrow(middle), low % 2 == 0 ? low : high);
  EXPECT_EQ(narrow(-middle), (low % 2 == 0 ? low : high) | 0x8000);
}

TEST(HalfTest, RoundsToNearestTiesToEven) {
  for (int low = 0; low < 0x7bff; ++low) {  // the last finite f16 is 0x7bff
    expect_rounding(static_cast<std::uint16_t>(low), float_from_f16, f16_from_float);
  }
  for (int low = 0x80; low < 0x7f7f; low += 3) {
    expect_rounding(static_cast<std::uint16_t>(low), float_from_bf16, bf16_from_float);
  }
}

TEST(HalfTest, TooLargeIsInfinity) {
  EXPECT_EQ(f16_from_float(65504), 0x7bff);
  EXPECT_EQ(f16_from_float(std::nextafter(65520.0F, 0.0F)), 0x7bff);
  EXPECT_EQ(f16_from_float(65520), 0x7c00);
  EXPECT_EQ(f16_from_float(-1e30F), 0xfc00);
  EXPECT_EQ(bf16_from_float(std::numeric_limits<float>::max()), 0x7f80);
}

TEST(PackedMatrixTest, RowsComeBackRounded) {
  for (const int64_t n : {1, 16, 19}) {
    for (const int64_t k : {1, 6, 33}) {
      const std::vector<float> values = random_floats(n * k, 1);
      const PackedMatrix f32(n, k, DType::kF32, rows_of(values, k), nullptr);
      const PackedMatrix bf16(n, k, DType::kBF16, rows_of(values, k), nullptr);
      const PackedMatrix f16(n, k, DType::kF16, rows_of(values, k), nullptr);
      std::vector<float> row(static_cast<std::size_t>(k));
      for (int64_t r = 0; r < n; ++r) {
        const float* expected = values.data() + r * k;
        f32.row(r, row.data());
        for (std::size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], expected[i]);
        bf16.row(r, row.data());
        for (std::size_t i = 0; i < row.size(); ++i) {
          EXPECT_EQ(row[i], float_from_bf16(bf16_from_float(expected[i])));
        }
        f16.row(r, row.data());
        for (std::size_t i = 0; i < row.size(); ++i) {
          EXPECT_EQ(row[i], float_from_f16(f16_from_float(expected[i])));
        }
      }
    }
  }
}

TEST(PackedMatrixTest, ThreadsPackTheSameBytesAndReadEveryRowOnce) {
  const int64_t n = 1003;
  const int64_t k = 1100;  // large enough for huge pages
  const std::vector<float> values = random_floats(n * k, 1);
  ThreadPool pool(3);
  for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
    const PackedMatrix one(n, k, dtype, rows_of(values, k), nullptr);
    std::mutex mutex;
    std::set<int64_t> seen;
    const PackedMatrix three(
        n, k, dtype,
        [&](int64_t first, int64_t count, float* out) {
          rows_of(values, k)(first, count, out);
          const std::lock_guard lock(mutex);
          for (int64_t r = first; r < first + count; ++r) EXPECT_TRUE(seen.insert(r).second);
        },
        &pool);
    EXPECT_EQ(seen.size(), static_cast<std::size_t>(n));
    ASSERT_EQ(one.bytes(), three.bytes());
    EXPECT_EQ(std::memcmp(one.data(), three.data(), one.bytes()), 0);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(one.data()) % 64, 0U);
  }
}

TEST(PackedMatrixTest, SizeIsThatOfTheWeightsInWholePanels) {
  const RowSource zeros = [](int64_t, int64_t count, float* out) {
    std::fill_n(out, count * 7, 0);
  };
  EXPECT_EQ(PackedMatrix(17, 7, DType::kF32, zeros, nullptr).bytes(), 32U * 7 * 4);
  EXPECT_EQ(PackedMatrix(17, 7, DType::kF16, zeros, nullptr).bytes(), 32U * 7 * 2);
  EXPECT_EQ(PackedMatrix(17, 7, DType::kBF16, zeros, nullptr).bytes(), 32U * 8 * 2);
}

TEST(PackedMatrixTest, AnErrorOfTheSourceReachesTheCaller) {
  ThreadPool pool(3);
  for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
    const RowSource source = [](int64_t first, int64_t, float*) {
      if (first == 48) throw std::runtime_error("rows 48");
    };
    EXPECT_THROW(PackedMatrix(100, 4, DType::kF32, source, threads), std::runtime_error);
  }
}

}  // namespace
}  // namespace quire
