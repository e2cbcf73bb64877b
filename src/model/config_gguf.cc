// SPDX-License-Identifier: Apache-2.0
// GGUF metadata -> ModelConfig. Keys are "<architecture>.<key>"; what the format leaves out
// (Gemma's window patterns and query scale, SmolLM3's layers without rope) is known by the family.
#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "model/config_reader.h"

namespace quire {

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

class GgufConfig {
 public:
  GgufConfig(const Checkpoint& checkpoint, const JsonObject& object, const Family& family)
      : checkpoint_(checkpoint),
        object_(object),
        family_(family),
        prefix_(std::string(family.gguf) + '.'),
        config_(config_of(family)) {}

  ModelConfig read() {
    read_sizes();
    read_experts();
    read_rope();
    read_windows();
    read_scales();
    config_.tied_head = checkpoint_.find("output.weight") == nullptr;
    config_.attention_bias |= checkpoint_.find("blk.0.attn_q.bias") != nullptr;
    config_.attention_out_bias = checkpoint_.find("blk.0.attn_output.bias") != nullptr;
    config_.mlp_bias = checkpoint_.find("blk.0.ffn_down.bias") != nullptr;
    read_tokens();
    return config_;
  }

 private:
  std::string key(std::string_view name) const { return prefix_ + std::string(name); }

  // Some keys hold one number for all layers or a list, one a layer; all layers must agree.
  std::int64_t same_in_all_layers(std::string_view name) {
    const std::string full = key(name);
    const Json& value = object_.at(full);
    if (!value.is_array()) return positive(object_, full, kMaxWidth);
    if (static_cast<std::int64_t>(value.size()) != config_.layers) {
      object_.fail(full, "expected " + std::to_string(config_.layers) + " entries, found " +
                             std::to_string(value.size()));
    }
    for (const Json& item : value) {
      const std::int64_t size = item.is_number_integer() ? item.get<std::int64_t>() : 0;
      if (size < 1 || size > kMaxWidth) {
        object_.fail(full, "expected numbers from 1 to " + std::to_string(kMaxWidth) + ", found " +
                               item.dump());
      }
      if (item != value[0]) unsupported(object_, full, "layers of different sizes");
    }
    return value[0].get<std::int64_t>();
  }

  void read_sizes() {
    config_.layers = positive(object_, key("block_count"), kMaxLayers);
    config_.hidden = positive(object_, key("embedding_length"), kMaxWidth);
    config_.context = positive(object_, key("context_length"), kNoLimit);
    config_.intermediate = same_in_all_layers("feed_forward_length");
    config_.heads = same_in_all_layers("attention.head_count");
    config_.kv_heads = object_.has(key("attention.head_count_kv"))
                           ? same_in_all_layers("attention.head_count_kv")
                           : config_.heads;
    const std::string head_dim = key("attention.key_length");
    if (object_.has(head_dim)) {
      config_.head_dim = positive(object_, head_dim, kMaxWidth);
    } else if (config_.hidden % config_.heads == 0) {
      config_.head_dim = config_.hidden / config_.heads;
    } else {
      object_.fail(key("attention.head_count"), "expected a divisor of embedding_length " +
                                                    std::to_string(config_.hidden) + ", found " +
                                                    std::to_string(config_.heads));
    }
    if (object_.integer_or(key("attention.value_length"), config_.head_dim) != config_.head_dim) {
      unsupported(object_, key("attention.value_length"),
                  "expected the size of a key, " + std::to_string(config_.head_dim));
    }
    check_heads(object_, {key("attention.head_count"), key("attention.head_count_kv"), head_dim},
                config_);
    config_.norm_eps = object_.number(key("attention.layer_norm_rms_epsilon"));
    if (config_.norm_eps < 0) {
      object_.fail(key("attention.layer_norm_rms_epsilon"), "expected 0 or more");
    }
    const TensorInfo* embedding = checkpoint_.find("token_embd.weight");
    if (embedding == nullptr || embedding->shape.size() != 2) {
      throw Error(ErrorCode::kCorrupt, object_.subject(),
                  "token_embd.weight: expected a matrix of one row a token");
    }
    config_.vocab_size = embedding->shape[0];
    const std::int64_t declared =
        positive_or(object_, key("vocab_size"), kMaxVocab, config_.vocab_size);
    if (config_.vocab_size > kMaxVocab || declared > config_.vocab_size) {
      object_.fail(key("vocab_size"), "expected the rows of token_embd.weight, " +
                                          std::to_string(config_.vocab_size) + ", found " +
                                          std::to_string(declared));
    }
  }

  void read_experts() {
    if (family_.experts == ExpertNames::kNone) return;
    config_.experts = positive(object_, key("expert_count"), kMaxWidth);
    config_.experts_per_token = positive(object_, key("expert_used_count"), config_.experts);
    config_.expert_intermediate =
        positive_or(object_, key("expert_feed_forward_length"), kMaxWidth, config_.intermediate);
    // The format does not say; its files come from models that do.
    config_.norm_expert_weights = true;
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      const std::string router = "blk." + std::to_string(i) + ".ffn_gate_inp.weight";
      const std::string dense = "blk." + std::to_string(i) + ".ffn_gate.weight";
      config_.layer_is_moe.push_back(checkpoint_.find(router) != nullptr ||
                                     checkpoint_.find(dense) == nullptr);
    }
  }

  // A factor for each frequency, in a tensor of its own; empty if there is none.
  std::vector<double> factors(const char* name) {
    const TensorInfo* tensor = checkpoint_.find(name);
    if (tensor == nullptr) return {};
    const std::int64_t count = config_.rope.dims / 2;
    if (tensor->shape != std::vector<std::int64_t>{count}) {
      throw Error(ErrorCode::kCorrupt, object_.subject(),
                  std::string(name) + ": expected " + std::to_string(count) + " factors");
    }
    std::vector<float> values(static_cast<std::size_t>(count));
    dequantize_rows(*tensor, 0, 1, values);
    for (const float value : values) {
      if (!(value > 0) || !std::isfinite(value)) {
        throw Error(ErrorCode::kCorrupt, object_.subject(),
                    std::string(name) + ": expected factors above 0");
      }
    }
    return {values.begin(), values.end()};
  }

  void read_rope() {
    config_.layer_has_rope.assign(static_cast<std::size_t>(config_.layers), true);
    for (std::int64_t i = 0; family_.rope_free_period > 0 && i < config_.layers; ++i) {
      config_.layer_has_rope[static_cast<std::size_t>(i)] = (i + 1) % family_.rope_free_period != 0;
    }
    RopeConfig& rope = config_.rope;
    rope.theta = positive_number_or(object_, key("rope.freq_base"), 10000);
    rope.dims = object_.integer_or(key("rope.dimension_count"), config_.head_dim);
    if (rope.dims < 2 || rope.dims % 2 != 0 || rope.dims > config_.head_dim) {
      object_.fail(key("rope.dimension_count"), "expected an even number of at most " +
                                                    std::to_string(config_.head_dim) + ", found " +
                                                    std::to_string(rope.dims));
    }
    if (config_.has_sliding_rope) {
      config_.rope_sliding = rope;
      config_.rope_sliding.theta = positive_number_or(
          object_, key("rope.freq_base_swa"),
          family_.rope_theta_sliding == family_.rope_theta ? rope.theta
                                                           : family_.rope_theta_sliding);
    }
    read_scaling(rope);
  }

  void read_scaling(RopeConfig& rope) {
    const std::string type = object_.string_or(key("rope.scaling.type"), "none");
    rope.original_context = positive_or(object_, key("rope.scaling.original_context_length"),
                                        kNoLimit, config_.context);
    if (type == "linear") {
      rope.scaling = RopeScaling::kLinear;
      rope.factor = positive_number(object_, key("rope.scaling.factor"));
    } else if (type == "yarn") {
      rope.scaling = RopeScaling::kYarn;
      rope.factor = positive_number(object_, key("rope.scaling.factor"));
      rope.beta_fast = positive_number_or(object_, key("rope.scaling.yarn_beta_fast"), 32);
      rope.beta_slow = positive_number_or(object_, key("rope.scaling.yarn_beta_slow"), 1);
      rope.attention_factor = positive_number_or(object_, key("rope.scaling.yarn_attn_factor"), 0);
    } else if (type != "none" && type != "longrope") {
      unsupported(object_, key("rope.scaling.type"),
                  "expected none, linear, yarn or longrope, found \"" + type + '"');
    }
    read_factors(rope);
  }

  // Llama 3's scaling and LongRoPE come as tensors of factors, computed by whoever wrote the file.
  void read_factors(RopeConfig& rope) {
    rope.short_factors = factors("rope_factors_short.weight");
    rope.long_factors = factors("rope_factors_long.weight");
    if (rope.short_factors.empty() != rope.long_factors.empty()) {
      throw Error(ErrorCode::kCorrupt, object_.subject(),
                  "rope_factors_short.weight and rope_factors_long.weight: one of them is missing");
    }
    const bool fixed = rope.short_factors.empty();
    if (fixed) rope.short_factors = rope.long_factors = factors("rope_freqs.weight");
    if (rope.short_factors.empty()) return;
    rope.scaling = RopeScaling::kLongRope;
    rope.factor = static_cast<double>(config_.context) / static_cast<double>(rope.original_context);
    rope.attention_factor =
        fixed ? 1 : positive_number_or(object_, key("rope.scaling.attn_factor"), 0);
  }

  void read_windows() {
    // 0 stands for none; a Mistral file may be called llama and still have a window.
    std::int64_t window = object_.integer_or(key("attention.sliding_window"), 0);
    if (window < 0) object_.fail(key("attention.sliding_window"), "expected 0 or more");
    Family family = family_;
    if (family_.windows == Windows::kNone) family.windows = Windows::kEvery;
    if (family_.windows == Windows::kPeriodic && window == 0) window = family_.window;
    set_windows(family, window, 0, config_);
  }

  void read_scales() {
    config_.attention_scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
    if (family_.model_type == "granite") {
      config_.attention_scale = object_.number_or(key("attention.scale"), config_.attention_scale);
      config_.embedding_scale = object_.number_or(key("embedding_scale"), 1);
      config_.residual_scale = object_.number_or(key("residual_scale"), 1);
      config_.logits_scale = 1 / positive_number_or(object_, key("logit_scale"), 1);
    }
    if (!family_.gemma) return;
    // The files hold 1 + w already.
    config_.embedding_scale = std::sqrt(static_cast<double>(config_.hidden));
    if (family_.model_type == "gemma") return;
    // The largest models of both generations scale by hidden / heads instead of the head.
    const std::int64_t largest = family_.model_type == "gemma2" ? 46 : 62;
    if (config_.layers == largest) {
      config_.attention_scale =
          1 / std::sqrt(static_cast<double>(config_.hidden) / static_cast<double>(config_.heads));
    }
    const bool capped = family_.model_type == "gemma2";
    config_.attention_softcap =
        positive_number_or(object_, key("attn_logit_softcapping"), capped ? 50 : 0);
    config_.logits_softcap =
        positive_number_or(object_, key("final_logit_softcapping"), capped ? 30 : 0);
  }

  void read_tokens() {
    const auto token = [&](std::string_view name) -> TokenId {
      if (!object_.has(name)) return -1;
      const std::int64_t id = object_.integer(name);
      if (id < 0 || id >= config_.vocab_size) {
        object_.fail(name, "expected an id below " + std::to_string(config_.vocab_size) +
                               ", found " + std::to_string(id));
      }
      return static_cast<TokenId>(id);
    };
    config_.bos = token("tokenizer.ggml.bos_token_id");
    for (const char* name : {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id"}) {
      const TokenId id = token(name);
      const bool is_new =
          std::find(config_.eos.begin(), config_.eos.end(), id) == config_.eos.end();
      if (id >= 0 && is_new) config_.eos.push_back(id);
    }
  }

  const Checkpoint& checkpoint_;
  const JsonObject& object_;
  const Family& family_;
  std::string prefix_;
  ModelConfig config_;
};

}  // namespace

ModelConfig parse_gguf_config(const Checkpoint& checkpoint) {
  const std::string subject = checkpoint.path().native();
  const Json json = parse_json(checkpoint.config_json(), subject);
  const JsonObject object(json, subject);
  if (object.integer_or("split.count", 1) > 1) {
    unsupported(object, "split.count", "expected a whole model, found one part of several");
  }
  const std::string& architecture = object.string("general.architecture");
  const bool has_experts = object.integer_or(architecture + ".expert_count", 0) > 0;
  const Family* family = find_gguf_family(architecture, has_experts);
  if (architecture == "olmo2" && object.integer_or("olmo2.attention.sliding_window", 0) > 0) {
    Family olmo3 = *find_family("olmo3");
    olmo3.gguf = "olmo2";
    return GgufConfig(checkpoint, object, olmo3).read();
  }
  if (family == nullptr) {
    unsupported(object, "general.architecture",
                "expected one of " + family_names(true) + ", found \"" + architecture + '"');
  }
  return GgufConfig(checkpoint, object, *family).read();
}

}  // namespace quire
