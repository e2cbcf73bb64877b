// SPDX-License-Identifier: Apache-2.0
// The attention kernels over many shapes and every instruction set this machine has.
#include <gtest/gtest.h>
#include <quire/cpu.h>
#include <quire/dynamic_cache.h>
#include <quire/quantized_cache.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "tests/kv/naive.h"

namespace quire::testing {
namespace {

// Restores the limit on instruction sets.
class IsaLimit {
 public:
  explicit IsaLimit(Isa isa) { set_isa_limit(isa); }
  ~IsaLimit() { set_isa_limit(Isa::kAvx512); }
};

std::vector<Isa> isas() {
  std::vector<Isa> result;
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa <= detected_isa()) result.push_back(isa);
  }
  return result;
}

// A score is a sum of head_dim products of about one, rounded at every step.
double tolerance(std::int64_t head_dim) { return 1e-5 + 1e-7 * static_cast<double>(head_dim); }

double worst_error(KvCache& cache, const KvSpec& spec, const Coding& coding) {
  const KvLayer& shape = spec.layers[0];
  const History history = make_tokens(1, 150);
  const Outputs outputs = append(cache, spec, history);
  const std::int64_t row = shape.kv_heads * kGroup * shape.head_dim;
  double worst = 0;
  for (const std::int64_t position : {0, 1, 31, 32, 100, 149}) {
    const std::vector<double> expected = naive_attention(spec, 0, history, position, 0, coding);
    for (std::int64_t i = 0; i < row; ++i) {
      const double error =
          static_cast<double>(outputs[static_cast<std::size_t>(position * row + i)]) -
          expected[static_cast<std::size_t>(i)];
      worst = std::isnan(error) ? 1e30 : std::max(worst, std::abs(error));
    }
  }
  return worst;
}

class AttentionKernelsTest : public ::testing::TestWithParam<Isa> {};

TEST_P(AttentionKernelsTest, EveryShape) {
  const IsaLimit limit(GetParam());
  for (const std::int64_t head_dim : {1, 5, 8, 16, 40, 64, 72, 80, 96, 128, 256}) {
    for (const std::int64_t kv_heads : {1, 2}) {
      for (const DType dtype : {DType::kF32, DType::kBF16, DType::kF16}) {
        const KvSpec spec{.layers = {{.kv_heads = kv_heads, .head_dim = head_dim}}, .dtype = dtype};
        DynamicCache cache(spec);
        EXPECT_LE(worst_error(cache, spec, {}), tolerance(head_dim))
            << "head_dim " << head_dim << ' ' << to_string(dtype);
      }
      for (const int bits : {8, 4, 2}) {
        for (const std::int64_t group : {32, 64}) {
          const KvSpec spec{.layers = {{.kv_heads = kv_heads, .head_dim = head_dim}}};
          QuantizedCache cache(spec,
                               {.nbits = bits, .q_group_size = group, .residual_length = group});
          EXPECT_LE(worst_error(cache, spec, {bits, group, group}), tolerance(head_dim))
              << "head_dim " << head_dim << " bits " << bits << " group " << group;
        }
      }
    }
  }
}

// Scores far apart and far from zero: exp of the differences must neither overflow nor vanish.
TEST_P(AttentionKernelsTest, LargeScores) {
  const IsaLimit limit(GetParam());
  const KvSpec spec{.layers = {{.kv_heads = 1, .head_dim = 256}}};
  DynamicCache cache(spec);
  EXPECT_LE(worst_error(cache, spec, {}), tolerance(256));
}

INSTANTIATE_TEST_SUITE_P(EveryIsa, AttentionKernelsTest, ::testing::ValuesIn(isas()),
                         [](const auto& one) { return std::string(isa_name(one.param)); });

}  // namespace
}  // namespace quire::testing
