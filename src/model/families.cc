// SPDX-License-Identifier: Apache-2.0
#include "model/families.h"

#include <array>

namespace quire {

namespace {

constexpr std::array kFamilies = {
    Family{.model_type = "llama",
           .gguf = "llama",
           .bias = AttentionBias::kDeclared,
           .mlp_bias = true,
           .interleaved_in_gguf = true},
    Family{.model_type = "mistral",
           .gguf = "",  // GGUF calls it llama
           .context = 131072,
           .kv_heads = 8,
           .window = 4096,
           .windows = Windows::kEvery},
    Family{.model_type = "mixtral",
           .gguf = "llama",
           .context = 131072,
           .kv_heads = 8,
           .norm_eps = 1e-5,
           .rope_theta = 1e6,
           .windows = Windows::kEvery,
           .experts = ExpertNames::kBlockSparseMoe,
           .interleaved_in_gguf = true},
    Family{.model_type = "qwen2",
           .gguf = "qwen2",
           .context = 32768,
           .kv_heads = 32,
           .window = 4096,
           .windows = Windows::kLate,
           .bias = AttentionBias::kQkv},
    Family{.model_type = "qwen3",
           .gguf = "qwen3",
           .context = 32768,
           .kv_heads = 32,
           .head_dim = 128,
           .window = 4096,
           .windows = Windows::kLate,
           .bias = AttentionBias::kDeclared,
           .qk_norm = true},
    Family{.model_type = "qwen3_moe",
           .gguf = "qwen3moe",
           .context = 32768,
           .kv_heads = 4,
           .window = 4096,
           .windows = Windows::kSwitched,
           .bias = AttentionBias::kDeclared,
           .experts = ExpertNames::kMlp,
           .qk_norm = true},
    Family{.model_type = "phi3",
           .gguf = "phi3",
           .context = 4096,
           .norm_eps = 1e-5,
           .windows = Windows::kEvery,
           .fused = true},
    Family{.model_type = "gemma",
           .gguf = "gemma",
           .context = 8192,
           .kv_heads = 16,
           .head_dim = 256,
           .tied_head = true,
           .bias = AttentionBias::kDeclared,
           .gemma = true},
    Family{.model_type = "gemma2",
           .gguf = "gemma2",
           .context = 8192,
           .kv_heads = 4,
           .head_dim = 256,
           .window = 4096,
           .tied_head = true,
           .windows = Windows::kPeriodic,
           .period = 2,
           .bias = AttentionBias::kDeclared,
           .gemma = true,
           .norm_after = true},
    Family{.model_type = "gemma3_text",
           .gguf = "gemma3",
           .context = 131072,
           .kv_heads = 4,
           .head_dim = 256,
           .window = 4096,
           .rope_theta = 1e6,
           .rope_theta_sliding = 10000,
           .tied_head = true,
           .windows = Windows::kPeriodic,
           .period = 6,
           .bias = AttentionBias::kDeclared,
           .gemma = true,
           .norm_after = true,
           .qk_norm = true},
    Family{.model_type = "smollm3",
           .gguf = "smollm3",
           .context = 32768,
           .kv_heads = 4,
           .rope_theta = 2e6,
           .tied_head = true,
           .windows = Windows::kWithoutRope,
           .bias = AttentionBias::kDeclared,
           .mlp_bias = true,
           .rope_free_period = 4,
           .interleaved_in_gguf = true},
    Family{.model_type = "olmo2",
           .gguf = "olmo2",
           .norm_eps = 1e-5,
           .bias = AttentionBias::kDeclared,
           .norm_before = false,
           .norm_after = true,
           .qk_norm_full = true},
    Family{.model_type = "olmo3",
           .gguf = "",  // olmo2 with a window
           .window = 4096,
           .norm_eps = 1e-5,
           .rope_theta = 500000,
           .rope_theta_sliding = 500000,
           .windows = Windows::kPeriodic,
           .period = 4,
           .bias = AttentionBias::kDeclared,
           .norm_before = false,
           .norm_after = true,
           .qk_norm_full = true},
    Family{.model_type = "granite",
           .gguf = "granite",
           .bias = AttentionBias::kDeclared,
           .mlp_bias = true,
           .interleaved_in_gguf = true},
};

}  // namespace

std::span<const Family> families() { return kFamilies; }

const Family* find_family(std::string_view model_type) {
  for (const Family& family : kFamilies) {
    if (family.model_type == model_type) return &family;
  }
  return nullptr;
}

const Family* find_gguf_family(std::string_view architecture, bool has_experts) {
  if (architecture.empty()) return nullptr;
  for (const Family& family : kFamilies) {
    const bool with_experts = family.experts != ExpertNames::kNone;
    if (family.gguf == architecture && with_experts == has_experts) return &family;
  }
  return nullptr;
}

std::string family_names(bool gguf) {
  std::string names;
  for (const Family& family : kFamilies) {
    const std::string_view name = gguf ? family.gguf : family.model_type;
    if (name.empty() || (gguf && family.model_type == "mixtral")) continue;
    if (!names.empty()) names += ", ";
    names += name;
  }
  return names;
}

ModelConfig config_of(const Family& family) {
  ModelConfig config;
  config.architecture = family.model_type;
  config.norm_before = family.norm_before;
  config.norm_after = family.norm_after;
  config.qk_norm = family.qk_norm;
  config.qk_norm_full = family.qk_norm_full;
  config.fused_qkv = family.fused;
  config.fused_gate_up = family.fused;
  config.attention_bias = family.bias == AttentionBias::kQkv;
  config.has_sliding_rope = family.rope_theta_sliding != 0;
  if (family.gemma) config.activation = Activation::kGeluTanh;
  return config;
}

}  // namespace quire
