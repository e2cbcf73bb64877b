// SPDX-License-Identifier: Apache-2.0
// The quantised kernels with sixteen lanes, emulated, against those of four: bit for bit.
// clang-format off
#include "tests/kernels/simd_emulated.h"
#include "kernels/simd.h"
#include "kernels/quantised_impl.h"
// clang-format on

#include <vector>

#include "tests/kernels/quantised_weights.h"
#include "tests/kernels/random_floats.h"

namespace quire {
namespace {

// What linear() does, on one thread.
std::vector<float> product(const QuantisedKernels& kernels, const QuantisedMatrix& w,
                           const std::vector<float>& x, std::int64_t m) {
  const QuantisedFormat format = quantised_format(w.type());
  QuantisedTiles tiles = kernels.tiles_of(m, w.cols() / kUnit);
  std::vector<std::byte> records(static_cast<std::size_t>(
      tiles.tiles * kernels.tile_rows * tiles.units * record_bytes(1, format.groups)));
  tiles.records = records.data();
  const auto quantise = format.groups == 2 ? kernels.quantise_by_16 : kernels.quantise_by_32;
  quantise(x.data(), w.cols(), format.bits == 8 ? kernels.signed_offset : format.offset, tiles, 0,
           tiles.tiles);
  std::vector<float> y(static_cast<std::size_t>(m * w.rows()));
  const QuantisedCall call{w.data(), w.panel_bytes(), w.rows(), nullptr, y.data(), w.rows()};
  kernels.product[QuantisedKernels::index(w.type())](call, tiles, 0, tiles.tiles, 0, w.panels());
  return y;
}

class WideTest : public testing::TestWithParam<BlockType> {};
INSTANTIATE_TEST_SUITE_P(All, WideTest, testing::ValuesIn(kQuantisedTypes),
                         [](const auto& test) { return std::string(to_string(test.param)); });

TEST_P(WideTest, EqualsThePortableKernels) {
  for (const bool extreme : {false, true}) {
    const QuantisedWeights weights(37, 5 * 256, GetParam(), 1, extreme);
    const QuantisedMatrix packed = weights.packed();
    for (const std::int64_t m : {1, 2, 4, 5, 8, 9, 12, 13, 19, 29}) {
      const std::vector<float> x = random_floats(m * packed.cols(), 2);
      EXPECT_EQ(product(kQuantised, packed, x, m), product(kQuantisedPortable, packed, x, m)) << m;
    }
  }
}

}  // namespace
}  // namespace quire
