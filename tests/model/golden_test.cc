// SPDX-License-Identifier: Apache-2.0
// Every family against transformers: logits and greedy ids, however the prompt is cut, in either
// style of config, and in bfloat16 within a stated bound.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;

constexpr double kTolerance = 1e-3;  // of a row's largest logit

// bfloat16 weights and KV against float32 ones, relative to the row's largest logit: these random
// models, with weights ten times larger than trained ones have, amplify rounding.
constexpr double kBf16Tolerance = 0.08;

class Models : public ::testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path folder() const { return kModels / GetParam(); }
  Golden golden() const { return read_golden(folder() / "golden.json"); }
};

void expect_golden(const Model& model, const Golden& golden) {
  for (std::size_t i = 0; i < golden.prompts.size(); ++i) {
    SCOPED_TRACE("prompt of " + std::to_string(golden.prompts[i].size()) + " tokens");
    DynamicCache whole(model.kv_spec());
    EXPECT_LE(
        relative_error(last_logits(model, golden.prompts[i], 0, whole), golden.last_logits[i]),
        kTolerance);
    DynamicCache single(model.kv_spec());
    EXPECT_LE(
        relative_error(last_logits(model, golden.prompts[i], 1, single), golden.last_logits[i]),
        kTolerance);
    EXPECT_EQ(greedy(model, golden.prompts[i], golden.greedy[i].size()), golden.greedy[i]);
  }
}

TEST_P(Models, EqualsTransformers) { expect_golden(*load(folder()), golden()); }

// The config in the style that it is not written in.
Json restyled(Json config) {
  Json rope = config.at("rope_parameters");
  config.erase("rope_parameters");
  if (rope.contains("full_attention")) {
    config["rope_theta"] = rope["full_attention"]["rope_theta"];
    if (config.at("model_type") == "gemma3_text") {
      config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"];
    }
    rope = rope["full_attention"];
  } else {
    config["rope_theta"] = rope.at("rope_theta");
  }
  if (rope.contains("partial_rotary_factor")) {
    config["partial_rotary_factor"] = rope["partial_rotary_factor"];
  }
  if (rope.contains("original_max_position_embeddings")) {
    config["original_max_position_embeddings"] = rope["original_max_position_embeddings"];
  }
  const std::string type = rope.at("rope_type");
  for (const char* key : {"rope_theta", "rope_type", "partial_rotary_factor"}) rope.erase(key);
  if (type == "default") {
    config["rope_scaling"] = nullptr;
  } else {
    rope["type"] = type;
    config["rope_scaling"] = rope;
  }
  if (config.contains("dtype")) config["torch_dtype"] = config["dtype"];
  config.erase("dtype");
  return config;
}

TEST_P(Models, EqualsTransformersWithTheConfigInTheOtherStyle) {
  const ScratchFolder scratch;
  copy_model(folder(), scratch.path(), restyled(read_json_file(folder() / "config.json")));
  expect_golden(*load(scratch.path()), golden());
}

TEST_P(Models, Bfloat16IsCloseToFloat32) {
  const auto model = load(folder(), DType::kBF16);
  EXPECT_EQ(model->dtype(), DType::kBF16);
  EXPECT_EQ(model->kv_spec().dtype, DType::kBF16);
  const Golden expected = golden();
  double worst = 0;
  for (std::size_t i = 0; i < expected.prompts.size(); ++i) {
    DynamicCache cache(model->kv_spec());
    worst = std::max(worst, relative_error(last_logits(*model, expected.prompts[i], 0, cache),
                                           expected.last_logits[i]));
  }
  RecordProperty("relative_error", std::to_string(worst));
  EXPECT_LE(worst, kBf16Tolerance);
}

INSTANTIATE_TEST_SUITE_P(All, Models, ::testing::ValuesIn(model_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

class GgufModels : public ::testing::TestWithParam<std::string> {};

TEST_P(GgufModels, EqualsTransformers) {
  expect_golden(*load(kModels / (GetParam() + ".gguf")),
                read_golden(kModels / (GetParam() + ".json")));
}

INSTANTIATE_TEST_SUITE_P(All, GgufModels, ::testing::ValuesIn(gguf_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace quire
