// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <quire/checkpoint.h>
#include <quire/export.h>
#include <quire/token.h>

namespace quire {

enum class RopeScaling : std::uint8_t { kNone, kLinear, kDynamic, kLlama3, kYarn, kLongRope };

// Rotary position embedding of one kind of layer.
struct RopeConfig {
  double theta = 10000;
  std::int64_t dims = 0;  // rotated dimensions of a head
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;
  double low_freq_factor = 1;   // llama3
  double high_freq_factor = 4;  // llama3
  double beta_fast = 32;        // yarn
  double beta_slow = 1;         // yarn
  double mscale = 0;            // yarn; 0: not given
  double mscale_all_dim = 0;    // yarn; 0: not given
  double attention_factor = 0;  // yarn, longrope; 0: derived
  bool truncate = true;         // yarn: round the correction range
  std::int64_t original_context = 0;
  std::vector<double> short_factors;  // longrope, one a frequency
  std::vector<double> long_factors;

  bool operator==(const RopeConfig&) const = default;
};

enum class Activation : std::uint8_t { kSilu, kGelu, kGeluTanh };

// What distinguishes one decoder from another, whatever file it came from: the decoder is one,
// families are data. Sizes are checked against each other when parsed, against tensors when loaded.
struct ModelConfig {
  std::string architecture;  // Hugging Face's model_type: "llama", "qwen2", "gemma3_text", …
  std::int64_t vocab_size = 0;
  std::int64_t context = 0;  // max_position_embeddings
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  double norm_eps = 1e-6;
  Activation activation = Activation::kSilu;
  bool tied_head = false;

  std::vector<std::int64_t> windows;       // per layer; 0: full attention
  std::vector<bool> layer_has_rope;        // per layer
  RopeConfig rope;                         // layers without a window, and all by default
  RopeConfig rope_sliding;                 // layers with a window, when rope differs for them
  bool has_sliding_rope = false;

  double attention_scale = 0;      // of q·k
  double attention_softcap = 0;    // 0: none
  double logits_softcap = 0;       // 0: none
  double embedding_scale = 1;      // times the token embedding
  double residual_scale = 1;       // times each block's output
  double logits_scale = 1;         // times the logits

  bool norm_plus_one = false;      // Gemma: weights are stored as w - 1
  bool norm_before = true;         // a norm before attention and before the MLP
  bool norm_after = false;         // a norm of each block's output before the residual add
  bool qk_norm = false;            // RMSNorm of q and k per head
  bool qk_norm_full = false;       // RMSNorm of the whole q and k rows (OLMo 2)
  bool attention_bias = false;     // q, k, v
  bool attention_out_bias = false;
  bool mlp_bias = false;
  bool fused_qkv = false;          // one tensor in the file (Phi-3)
  bool fused_gate_up = false;

  std::int64_t experts = 0;            // 0: dense
  std::int64_t experts_per_token = 0;
  std::int64_t expert_intermediate = 0;
  bool norm_expert_weights = true;     // the chosen experts' weights sum to one
  std::vector<bool> layer_is_moe;      // per layer, when experts > 0

  std::vector<TokenId> eos;  // as the config declares them
  TokenId bos = -1;          // -1: none

  bool operator==(const ModelConfig&) const = default;
};

// Reads and checks the configuration of a checkpoint.
// Throws Error kUnsupported (architecture, rope type, activation, …) or kCorrupt, naming the key.
QUIRE_EXPORT ModelConfig parse_model_config(const Checkpoint& checkpoint);

}  // namespace quire
