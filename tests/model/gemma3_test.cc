// SPDX-License-Identifier: Apache-2.0
// The packaged Gemma-3-270M, a mixture of block types, in float32 against transformers. Its file
// carries neither the sliding layers' rope base nor their pattern.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "kernels/thread_pool.h"
#include "tests/model/fixtures.h"
#include "tests/model/real_models.h"

namespace quire {
namespace {

using namespace quire::testing;

TEST(Gemma3, GreedyIdsAndTopLogitsEqualTransformers) {
  const auto model = load(packaged("gemma3", "gemma-3-270m-q4_k_m.gguf"));
  EXPECT_EQ(model->config().rope_sliding.theta, 10000);
  EXPECT_EQ(model->config().windows[4], 512);
  EXPECT_EQ(model->config().windows[5], 0);
  ThreadPool pool(2);
  for (const Json& entry : read_json_file(kModels / "gemma3-270m.json")) {
    const auto ids = entry.at("ids").get<TokenIds>();
    SCOPED_TRACE("prompt of " + std::to_string(ids.size()) + " tokens");
    DynamicCache cache(model->kv_spec());
    std::vector<float> logits = last_logits(*model, ids, 0, cache, &pool);
    expect_top(logits, entry.at("top5"), 5e-3);
    TokenIds next = {argmax(logits)};
    const auto expected = entry.at("new_ids").get<TokenIds>();
    while (next.size() < expected.size()) {
      next.push_back(argmax(last_logits(*model, {next.back()}, 0, cache, &pool)));
    }
    EXPECT_EQ(next, expected);
  }
}

}  // namespace
}  // namespace quire
