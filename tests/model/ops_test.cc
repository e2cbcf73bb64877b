// SPDX-License-Identifier: Apache-2.0
// The ATen operations against the CPU kernels, through whole models: one decoder, two sets.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "kernels/thread_pool.h"
#include "model/decoder.h"
#include "model/model_files.h"
#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;

TEST(AtenOps, GiveTheLogitsOfTheCpuKernels) {
  for (const char* name : {"llama-bias-headdim", "gemma2", "gemma3", "olmo2", "granite",
                           "qwen3-moe", "phi3-longrope"}) {
    SCOPED_TRACE(name);
    const ModelFiles files = open_model(kModels / name);
    const Golden golden = read_golden(kModels / name / "golden.json");
    const auto ops = make_aten_ops(Device::kCpu, DType::kF32);
    ThreadPool pool(1);
    const Weights weights = load_weights(files.plan, files.config, *ops, DType::kF32, &pool, {});
    const Decoder decoder(files.config, weights, *ops);
    for (std::size_t i = 0; i < golden.prompts.size(); ++i) {
      DynamicCache cache(kv_spec_of(files.config, DType::kF32, Device::kCpu));
      const Sequence sequence{.tokens = golden.prompts[i], .cache = cache};
      EXPECT_LE(
          relative_error(row(decoder.forward({&sequence, 1}, nullptr), 0), golden.last_logits[i]),
          1e-3);
    }
  }
}

TEST(AtenOps, LoadReportsProgressToTheEnd) {
  std::vector<double> seen;
  Model::load(kModels / "mixtral",
              {.threads = 1, .progress = [&](double done) { seen.push_back(done); }});
  ASSERT_FALSE(seen.empty());
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_GT(seen.front(), 0);
  EXPECT_EQ(seen.back(), 1);
}

}  // namespace
}  // namespace quire
