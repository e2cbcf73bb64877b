// SPDX-License-Identifier: Apache-2.0
// The packaged SmolLM2 in float32 against transformers on the same weights.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "kernels/thread_pool.h"
#include "tests/model/fixtures.h"
#include "tests/model/real_models.h"

namespace quire {
namespace {

using namespace quire::testing;

TEST(SmolLM2, GreedyIdsAndTopLogitsEqualTransformers) {
  const auto model = load(packaged("smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf"));
  ThreadPool pool(2);
  for (const Json& entry : read_json_file(kModels / "smollm2.json")) {
    const auto ids = entry.at("ids").get<TokenIds>();
    SCOPED_TRACE("prompt of " + std::to_string(ids.size()) + " tokens");
    DynamicCache cache(model->kv_spec());
    std::vector<float> logits = last_logits(*model, ids, 0, cache, &pool);
    expect_top(logits, entry.at("top5"), 2e-3);
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
