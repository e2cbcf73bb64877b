// SPDX-License-Identifier: Apache-2.0
// The decoder families: what each one differs in, and what transformers assumes where a config.json
// is silent. The decoder itself knows none of them; it reads a ModelConfig.
//
// Thread-safety: constant data.
#pragma once

#include <quire/model_config.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quire {

// Which layers attend to a window only.
enum class Windows : std::uint8_t {
  kNone,
  kEvery,       // all of them, when sliding_window is given
  kSwitched,    // all of them, when use_sliding_window is true
  kLate,        // use_sliding_window, from layer max_window_layers on
  kPeriodic,    // all but every n-th
  kWithoutRope  // use_sliding_window, the layers without rope
};

// Which of the attention's linear layers have a bias.
enum class AttentionBias : std::uint8_t { kNone, kQkv, kDeclared };

// How experts are spelled in a Hugging Face checkpoint.
enum class ExpertNames : std::uint8_t { kNone, kBlockSparseMoe, kMlp };

struct Family {
  std::string_view model_type;  // Hugging Face's
  std::string_view gguf;        // GGUF's general.architecture; empty: not in that format

  // Defaults of config.json.
  std::int64_t context = 2048;
  std::int64_t kv_heads = 0;  // 0: as many as query heads
  std::int64_t head_dim = 0;  // 0: hidden / heads
  std::int64_t window = 0;    // 0: none
  double norm_eps = 1e-6;
  double rope_theta = 10000;
  double rope_theta_sliding = 0;  // 0: one rope for all layers
  bool tied_head = false;

  // The block.
  Windows windows = Windows::kNone;
  std::int64_t period = 0;  // kPeriodic: every n-th layer attends to everything
  AttentionBias bias = AttentionBias::kNone;
  bool mlp_bias = false;  // mlp_bias is a key of its config
  ExpertNames experts = ExpertNames::kNone;
  bool gemma = false;       // GELU, w + 1 norms, a scaled embedding, a declared query scale
  bool norm_before = true;  // of the attention and of the MLP
  bool norm_after = false;
  bool qk_norm = false;
  bool qk_norm_full = false;
  bool fused = false;                 // qkv and gate_up are one tensor each
  std::int64_t rope_free_period = 0;  // every n-th layer is without rope
  bool interleaved_in_gguf = false;   // GGUF pairs the rotated rows of Q and K
};

std::span<const Family> families();

// nullptr if there is none. A GGUF architecture stands for two families when some of its files have
// experts.
const Family* find_family(std::string_view model_type);
const Family* find_gguf_family(std::string_view architecture, bool has_experts);

// "llama, mistral, …": for messages.
std::string family_names(bool gguf);

// A config with everything that the family alone decides.
ModelConfig config_of(const Family& family);

}  // namespace quire
