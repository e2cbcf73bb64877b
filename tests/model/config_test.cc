// SPDX-License-Identifier: Apache-2.0
// What the configs of files mean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "model/families.h"
#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Parsing needs no fitting weights: those of the tiny llama do.
ModelConfig parse(const Json& config) {
  const ScratchFolder scratch;
  copy_model(kModels / "llama", scratch.path(), config);
  return parse_model_config(*Checkpoint::open(scratch.path()));
}

Json sizes(const char* model_type, const Json& more = Json::object()) {
  Json config = {{"model_type", model_type},
                 {"vocab_size", 64},
                 {"hidden_size", 32},
                 {"intermediate_size", 64},
                 {"num_hidden_layers", 6},
                 {"num_attention_heads", 4},
                 {"head_dim", 8},
                 {"moe_intermediate_size", 16}};
  config.update(more);
  return config;
}

TEST(Config, EveryFamilyLoadsFromItsSizesAlone) {
  for (const Family& family : families()) {
    SCOPED_TRACE(family.model_type);
    Json json = sizes(std::string(family.model_type).c_str());
    json["num_key_value_heads"] = 2;
    const ModelConfig config = parse(json);
    EXPECT_EQ(config.architecture, family.model_type);
    EXPECT_EQ(config.windows.size(), 6u);
    EXPECT_EQ(config.context, family.context);
    EXPECT_EQ(config.tied_head, family.tied_head);
    EXPECT_EQ(config.rope.theta, family.rope_theta);
  }
}

TEST(Config, Windows) {
  const auto windows = [](const char* type, const Json& more = Json::object()) {
    Json json = sizes(type, {{"num_key_value_heads", 2}, {"sliding_window", 16}});
    json.update(more);
    return parse(json).windows;
  };
  EXPECT_THAT(windows("llama"), Each(0));
  EXPECT_THAT(windows("mistral"), Each(16));
  EXPECT_THAT(windows("mistral", {{"sliding_window", nullptr}}), Each(0));
  EXPECT_THAT(windows("qwen2"), Each(0));
  EXPECT_THAT(windows("qwen2", {{"use_sliding_window", true}, {"max_window_layers", 4}}),
              ElementsAre(0, 0, 0, 0, 16, 16));
  EXPECT_THAT(windows("qwen3_moe", {{"use_sliding_window", true}}), Each(16));
  EXPECT_THAT(windows("gemma2"), ElementsAre(16, 0, 16, 0, 16, 0));
  EXPECT_THAT(windows("gemma3_text"), ElementsAre(16, 16, 16, 16, 16, 0));
  EXPECT_THAT(windows("gemma3_text", {{"sliding_window_pattern", 2}}),
              ElementsAre(16, 0, 16, 0, 16, 0));
  EXPECT_THAT(windows("olmo3"), ElementsAre(16, 16, 16, 0, 16, 16));
  const Json types = {"full_attention",    "sliding_attention", "full_attention",
                      "sliding_attention", "full_attention",    "full_attention"};
  EXPECT_THAT(windows("gemma2", {{"layer_types", types}}), ElementsAre(0, 16, 0, 16, 0, 0));
  EXPECT_THAT(windows("smollm3"), Each(0));
  EXPECT_THAT(windows("smollm3", {{"use_sliding_window", true}}), ElementsAre(0, 0, 0, 16, 0, 0));
}

TEST(Config, RopeStylesAreEqual) {
  const Json both[][2] = {
      {{{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5000.0}}}},
       {{"rope_theta", 5000}}},
      {{{"rope_parameters", {{"rope_type", "linear"}, {"rope_theta", 5000.0}, {"factor", 4.0}}}},
       {{"rope_theta", 5000.0}, {"rope_scaling", {{"type", "linear"}, {"factor", 4}}}}},
      {{{"rope_parameters",
         {{"rope_type", "llama3"},
          {"rope_theta", 5e5},
          {"factor", 8.0},
          {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0},
          {"original_max_position_embeddings", 512}}}},
       {{"rope_theta", 5e5},
        {"rope_scaling",
         {{"rope_type", "llama3"},
          {"type", "llama3"},
          {"factor", 8.0},
          {"low_freq_factor", 1.0},
          {"high_freq_factor", 4.0},
          {"original_max_position_embeddings", 512}}}}},
  };
  for (const auto& [now, before] : both) {
    EXPECT_EQ(parse(sizes("llama", now)), parse(sizes("llama", before)));
  }
  const Json now = {
      {"num_key_value_heads", 2},
      {"rope_parameters",
       {{"full_attention", {{"rope_type", "linear"}, {"rope_theta", 9e5}, {"factor", 8}}},
        {"sliding_attention", {{"rope_type", "default"}, {"rope_theta", 9e3}}}}}};
  const Json before = {{"num_key_value_heads", 2},
                       {"rope_theta", 9e5},
                       {"rope_local_base_freq", 9e3},
                       {"rope_scaling", {{"rope_type", "linear"}, {"factor", 8}}}};
  const ModelConfig config = parse(sizes("gemma3_text", now));
  EXPECT_EQ(config, parse(sizes("gemma3_text", before)));
  EXPECT_EQ(config.rope.factor, 8);
  EXPECT_EQ(config.rope_sliding.theta, 9e3);
  EXPECT_EQ(config.rope_sliding.scaling, RopeScaling::kNone);
}

TEST(Config, ADynamicRopeStretchesTheContext) {
  const ModelConfig config =
      parse(sizes("llama", {{"max_position_embeddings", 100},
                            {"rope_scaling", {{"type", "dynamic"}, {"factor", 2.5}}}}));
  EXPECT_EQ(config.context, 250);
  EXPECT_EQ(config.rope.original_context, 100);
}

TEST(Config, Gemma3InsideAMultimodalModel) {
  const Json text = {{"model_type", "gemma3_text"},
                     {"hidden_size", 32},
                     {"intermediate_size", 64},
                     {"num_hidden_layers", 6},
                     {"sliding_window", 16}};
  const ModelConfig config = parse({{"model_type", "gemma3"},
                                    {"text_config", text},
                                    {"eos_token_id", {1, 106}},
                                    {"vision_config", Json::object()}});
  EXPECT_EQ(config.architecture, "gemma3_text");
  EXPECT_EQ(config.heads, 8);
  EXPECT_EQ(config.vocab_size, 262208);
  EXPECT_TRUE(config.tied_head);
  EXPECT_THAT(config.eos, ElementsAre(1, 106));
}

TEST(Config, ScalesOfGemmaAndGranite) {
  const ModelConfig gemma = parse(sizes("gemma2", {{"num_key_value_heads", 2},
                                                   {"query_pre_attn_scalar", 64},
                                                   {"final_logit_softcapping", nullptr}}));
  EXPECT_DOUBLE_EQ(gemma.attention_scale, 0.125);
  EXPECT_DOUBLE_EQ(gemma.embedding_scale, std::sqrt(32.0));
  EXPECT_EQ(gemma.attention_softcap, 50);
  EXPECT_EQ(gemma.logits_softcap, 0);
  EXPECT_TRUE(gemma.norm_plus_one);
  const ModelConfig granite = parse(sizes("granite", {{"logits_scaling", 8}}));
  EXPECT_EQ(granite.logits_scale, 0.125);
  EXPECT_EQ(granite.attention_scale, 1);
}

TEST(Config, RefusalsNameTheKey) {
  const struct {
    const char* type;
    Json change;
    const char* named;
  } kCases[] = {
      {"gemma2", {{"num_key_value_heads", 3}}, "num_key_value_heads"},
      {"gemma3_text",
       {{"num_key_value_heads", 2}, {"use_bidirectional_attention", true}},
       "use_bidirectional_attention"},
      {"gemma3_text", {{"num_key_value_heads", 2}, {"sliding_window", nullptr}}, "sliding_window"},
      {"mixtral",
       {{"num_key_value_heads", 2}, {"num_local_experts", 2}, {"num_experts_per_tok", 3}},
       "num_experts_per_tok"},
      {"qwen3_moe", {{"moe_intermediate_size", nullptr}}, "moe_intermediate_size"},
      {"qwen3_moe", {{"mlp_only_layers", "none"}}, "mlp_only_layers"},
      {"smollm3", {{"no_rope_layers", {1, 0}}}, "no_rope_layers"},
      {"phi3", {{"partial_rotary_factor", 0.4}}, "partial_rotary_factor"},
      {"phi3",
       {{"rope_scaling", {{"type", "su"}, {"short_factor", {1}}, {"long_factor", {1}}}}},
       "short_factor"},
      {"granite", {{"logits_scaling", 0}}, "logits_scaling"},
      {"llama", {{"rope_parameters", {{"full_attention", Json::object()}}}}, "rope_parameters"},
      {"llama", {{"quantization_config", {{"quant_method", "gptq"}}}}, "gptq"},
      {"bert", Json::object(), "bert"},
  };
  for (const auto& [type, change, named] : kCases) {
    SCOPED_TRACE(std::string(type) + ' ' + change.dump());
    EXPECT_THAT(error_of([&] { parse(sizes(type, change)); }), HasSubstr(named));
  }
}

TEST(Config, Gguf) {
  const auto parsed = [](const char* name) {
    return parse_model_config(*Checkpoint::open(kModels / name));
  };
  const ModelConfig gemma = parsed("gguf-gemma3.gguf");
  EXPECT_EQ(gemma.architecture, "gemma3_text");
  EXPECT_FALSE(gemma.norm_plus_one);  // the file holds 1 + w
  EXPECT_EQ(gemma.rope.factor, 8);
  EXPECT_EQ(gemma.rope_sliding.theta, 10000);
  EXPECT_THAT(gemma.windows, ElementsAre(8, 8, 8, 8, 8, 0, 8));
  EXPECT_EQ(parsed("gguf-mixtral.gguf").architecture, "mixtral");
  EXPECT_EQ(parsed("gguf-olmo3.gguf").architecture, "olmo3");
  EXPECT_EQ(parsed("gguf-llama-rope-freqs.gguf").rope.scaling, RopeScaling::kLongRope);
  EXPECT_TRUE(parsed("gguf-llama-bias.gguf").mlp_bias);
  EXPECT_TRUE(parsed("gguf-llama-bias.gguf").tied_head);
  EXPECT_THAT(parsed("gguf-smollm3.gguf").layer_has_rope,
              ElementsAre(true, true, true, false, true));
}

}  // namespace
}  // namespace quire
