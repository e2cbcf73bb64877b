// SPDX-License-Identifier: Apache-2.0
// config.json -> ModelConfig. Keys and their defaults are those of transformers' configuration
// classes; sizes are never guessed, and what transformers only warns about is refused.
#include <quire/error.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "model/config_reader.h"

namespace quire {

namespace {

// Gemma 3's multimodal configs leave out of text_config whatever equals these.
constexpr std::int64_t kGemma3Heads = 8;
constexpr std::int64_t kGemma3Vocab = 262208;

class HfConfig {
 public:
  // `top` and `object` differ for a text model inside a multimodal one.
  HfConfig(const JsonObject& top, const JsonObject& object, const Family& family)
      : top_(top), object_(object), family_(family), config_(config_of(family)) {}

  ModelConfig read() {
    check_types();
    read_sizes();
    read_activation();
    read_biases();
    read_experts();
    read_rope();
    read_windows();
    read_scales();
    read_tokens();
    return config_;
  }

 private:
  bool nested() const { return &top_ != &object_; }

  std::int64_t size(std::string_view key, std::int64_t most, std::int64_t nested_default = 0) {
    if (nested() && nested_default > 0 && !object_.json().contains(key)) return nested_default;
    return positive(object_, key, most);
  }

  void check_types() {
    constexpr std::array<std::string_view, 10> kKnown = {
        "float32", "float16", "bfloat16", "float64",       "float",
        "half",    "double",  "auto",     "float8_e4m3fn", "float8_e5m2"};
    for (const char* key : {"dtype", "torch_dtype"}) {
      if (!top_.has(key)) continue;
      std::string name = top_.string(key);
      if (name.starts_with("torch.")) name.erase(0, 6);
      if (std::find(kKnown.begin(), kKnown.end(), name) == kKnown.end()) {
        unsupported(top_, key, "expected float32, float16 or bfloat16, found \"" + name + '"');
      }
    }
    if (const auto method = top_.object_if("quantization_config")) {
      unsupported(top_, "quantization_config",
                  "no support for quant_method \"" + method->string_or("quant_method", "") + '"');
    }
    if (object_.boolean_or("use_bidirectional_attention", false)) {
      unsupported(object_, "use_bidirectional_attention", "expected false, found true");
    }
  }

  void read_sizes() {
    config_.vocab_size = size("vocab_size", kMaxVocab, kGemma3Vocab);
    config_.hidden = size("hidden_size", kMaxWidth);
    config_.layers = size("num_hidden_layers", kMaxLayers);
    config_.intermediate = size("intermediate_size", kMaxWidth);
    config_.heads = size("num_attention_heads", kMaxWidth, kGemma3Heads);
    // null means: as many as query heads.
    const bool absent = !object_.json().contains("num_key_value_heads");
    const std::int64_t implied = absent && family_.kv_heads > 0 ? family_.kv_heads : config_.heads;
    config_.kv_heads = positive_or(object_, "num_key_value_heads", kMaxWidth, implied);
    config_.context = positive_or(object_, "max_position_embeddings",
                                  std::numeric_limits<std::int64_t>::max(), family_.context);
    if (object_.has("head_dim")) {
      config_.head_dim = positive(object_, "head_dim", kMaxWidth);
    } else if (family_.head_dim > 0 && !object_.json().contains("head_dim")) {
      config_.head_dim = family_.head_dim;
    } else {
      if (config_.hidden % config_.heads != 0) {
        object_.fail("num_attention_heads", "expected a divisor of hidden_size " +
                                                std::to_string(config_.hidden) + ", found " +
                                                std::to_string(config_.heads));
      }
      config_.head_dim = config_.hidden / config_.heads;
    }
    check_heads(object_, {"num_attention_heads", "num_key_value_heads", "head_dim"}, config_);
    config_.norm_eps = object_.number_or("rms_norm_eps", family_.norm_eps);
    if (config_.norm_eps < 0) {
      object_.fail("rms_norm_eps", "expected 0 or more, found " + std::to_string(config_.norm_eps));
    }
    config_.tied_head = top_.boolean_or(
        "tie_word_embeddings", object_.boolean_or("tie_word_embeddings", family_.tied_head));
  }

  void read_activation() {
    // Gemma 1 files say "gelu" and mean its tanh form; its successors renamed the key.
    const bool renamed = family_.gemma && family_.model_type != "gemma";
    const std::string_view key = renamed ? "hidden_activation" : "hidden_act";
    if (!object_.json().contains(key)) return;
    const std::string& name = object_.string(key);
    if (name == "silu" || name == "swish") {
      config_.activation = Activation::kSilu;
    } else if (name == "gelu" && !family_.gemma) {
      config_.activation = Activation::kGelu;
    } else if (name == "gelu" || name == "gelu_new" || name == "gelu_pytorch_tanh") {
      config_.activation = Activation::kGeluTanh;
    } else {
      unsupported(object_, key,
                  "expected silu, gelu, gelu_new or gelu_pytorch_tanh, found \"" + name + '"');
    }
  }

  void read_biases() {
    if (family_.bias == AttentionBias::kDeclared) {
      config_.attention_bias = object_.boolean_or("attention_bias", false);
      config_.attention_out_bias = config_.attention_bias;
    }
    if (family_.mlp_bias) config_.mlp_bias = object_.boolean_or("mlp_bias", false);
  }

  void read_experts() {
    if (family_.experts == ExpertNames::kNone) return;
    const bool qwen = family_.experts == ExpertNames::kMlp;
    const std::string_view key = object_.has("num_experts") ? "num_experts" : "num_local_experts";
    config_.experts = positive_or(object_, key, kMaxWidth, qwen ? 128 : 8);
    config_.experts_per_token =
        positive_or(object_, "num_experts_per_tok", config_.experts, qwen ? 8 : 2);
    config_.expert_intermediate =
        qwen ? positive(object_, "moe_intermediate_size", kMaxWidth) : config_.intermediate;
    config_.norm_expert_weights = !qwen || object_.boolean_or("norm_topk_prob", false);
    config_.layer_is_moe.assign(static_cast<std::size_t>(config_.layers), true);
    if (!qwen) return;
    const std::int64_t step = positive_or(object_, "decoder_sparse_step", kMaxLayers, 1);
    for (std::int64_t i = 0; i < config_.layers; ++i) {
      config_.layer_is_moe[static_cast<std::size_t>(i)] = (i + 1) % step == 0;
    }
    for (const std::int64_t layer : integers("mlp_only_layers")) {
      if (layer >= 0 && layer < config_.layers) {
        config_.layer_is_moe[static_cast<std::size_t>(layer)] = false;
      }
    }
  }

  void read_rope() {
    config_.layer_has_rope.assign(static_cast<std::size_t>(config_.layers), true);
    if (family_.rope_free_period > 0) {
      const std::int64_t period =
          positive_or(object_, "no_rope_layer_interval", kMaxLayers, family_.rope_free_period);
      const std::vector<std::int64_t> listed = integers("no_rope_layers");
      const auto count = static_cast<std::int64_t>(listed.size());
      if (object_.has("no_rope_layers") && count < config_.layers) {
        object_.fail("no_rope_layers", "expected " + std::to_string(config_.layers) +
                                           " entries, found " + std::to_string(count));
      }
      for (std::int64_t i = 0; i < config_.layers; ++i) {
        const auto at = static_cast<std::size_t>(i);
        config_.layer_has_rope[at] = count > 0 ? listed[at] != 0 : (i + 1) % period != 0;
      }
    }
    parse_hf_rope(object_, family_, config_);
  }

  void read_windows() {
    const bool has_switch = family_.windows == Windows::kLate ||
                            family_.windows == Windows::kSwitched ||
                            family_.windows == Windows::kWithoutRope;
    const bool is_off = has_switch && !object_.boolean_or("use_sliding_window", false);
    std::int64_t window = 0;
    if (object_.has("sliding_window") && family_.windows != Windows::kNone) {
      const std::int64_t most = std::numeric_limits<std::int64_t>::max();
      // A switched-off window may be anything, 0 included.
      window = is_off ? 0 : positive(object_, "sliding_window", most);
    } else if (!is_off && !object_.json().contains("sliding_window")) {
      window = family_.window;
    }
    Family family = family_;
    family.period = positive_or(object_, "sliding_window_pattern", kMaxLayers, family_.period);
    set_windows(family, window, object_.integer_or("max_window_layers", 28), config_);
    const bool lists_types = family_.windows == Windows::kLate ||
                             family_.windows == Windows::kPeriodic ||
                             family_.windows == Windows::kWithoutRope;
    if (lists_types && object_.has("layer_types")) {
      read_layer_types(window, is_off && family_.windows == Windows::kWithoutRope);
    } else if (family_.windows == Windows::kPeriodic && window == 0) {
      object_.fail("sliding_window", "expected a window for the layers that have one, found none");
    }
  }

  void read_layer_types(std::int64_t window, bool ignore_windows) {
    const Json& types = object_.at("layer_types");
    if (!types.is_array()) object_.fail("layer_types", "expected an array");
    if (static_cast<std::int64_t>(types.size()) != config_.layers) {
      object_.fail("layer_types", "expected " + std::to_string(config_.layers) +
                                      " entries, found " + std::to_string(types.size()));
    }
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::string name = types[i].is_string() ? types[i].get<std::string>() : types[i].dump();
      if (name != "full_attention" && name != "sliding_attention") {
        unsupported(object_, "layer_types",
                    "expected full_attention or sliding_attention, found \"" + name + '"');
      }
      const bool limited = name == "sliding_attention" && !ignore_windows;
      if (limited && window == 0) {
        object_.fail("sliding_window", "layer " + std::to_string(i) +
                                           " is sliding_attention, but there is no window");
      }
      config_.windows[i] = limited ? window : 0;
    }
  }

  void read_scales() {
    config_.attention_scale = 1 / std::sqrt(static_cast<double>(config_.head_dim));
    if (family_.model_type == "granite") {
      config_.attention_scale = object_.number_or("attention_multiplier", 1);
      config_.embedding_scale = object_.number_or("embedding_multiplier", 1);
      config_.residual_scale = object_.number_or("residual_multiplier", 1);
      config_.logits_scale = 1 / positive_number_or(object_, "logits_scaling", 1);
    }
    if (!family_.gemma) return;
    config_.norm_plus_one = true;
    config_.embedding_scale = std::sqrt(static_cast<double>(config_.hidden));
    if (family_.model_type == "gemma") return;
    config_.attention_scale =
        1 / std::sqrt(positive_number_or(object_, "query_pre_attn_scalar", 256));
    const bool capped = family_.model_type == "gemma2";
    config_.attention_softcap = cap("attn_logit_softcapping", capped ? 50 : 0);
    config_.logits_softcap = cap("final_logit_softcapping", capped ? 30 : 0);
  }

  // null switches a cap off; only an absent key has the default.
  double cap(std::string_view key, double fallback) {
    return object_.json().contains(key) ? positive_number_or(object_, key, 0) : fallback;
  }

  void read_tokens() {
    const JsonObject& declared = top_.has("eos_token_id") ? top_ : object_;
    if (declared.has("eos_token_id")) {
      const Json& eos = declared.at("eos_token_id");
      if (!eos.is_array() && !eos.is_number()) {
        declared.fail("eos_token_id", "expected an integer or a list of them");
      }
      for (const std::int64_t id : eos.is_array() ? integers_of(declared, "eos_token_id")
                                                  : std::vector{declared.integer("eos_token_id")}) {
        config_.eos.push_back(token(declared, "eos_token_id", id));
      }
    }
    const JsonObject& with_bos = top_.has("bos_token_id") ? top_ : object_;
    if (with_bos.has("bos_token_id")) {
      config_.bos = token(with_bos, "bos_token_id", with_bos.integer("bos_token_id"));
    }
  }

  static TokenId token(const JsonObject& object, std::string_view key, std::int64_t id) {
    if (id < 0 || id > kMaxVocab) object.fail(key, "no token id: " + std::to_string(id));
    return static_cast<TokenId>(id);
  }

  std::vector<std::int64_t> integers(std::string_view key) const {
    return object_.has(key) ? integers_of(object_, key) : std::vector<std::int64_t>{};
  }

  static std::vector<std::int64_t> integers_of(const JsonObject& object, std::string_view key) {
    const Json& list = object.at(key);
    if (!list.is_array()) object.fail(key, "expected a list of integers");
    std::vector<std::int64_t> values;
    for (const Json& item : list) {
      if (!item.is_number_integer() && !item.is_boolean()) {
        object.fail(key, "expected a list of integers");
      }
      values.push_back(item.is_boolean() ? item.get<bool>() : item.get<std::int64_t>());
    }
    return values;
  }

  const JsonObject& top_;
  const JsonObject& object_;
  const Family& family_;
  ModelConfig config_;
};

}  // namespace

ModelConfig parse_hf_config(const Checkpoint& checkpoint) {
  const std::string subject = (checkpoint.path() / "config.json").native();
  const Json json = parse_json(checkpoint.config_json(), subject);
  const JsonObject top(json, subject);
  const std::string& type = top.string("model_type");
  if (type == "gemma3") {
    const JsonObject text = top.object("text_config");
    return HfConfig(top, text, *find_family("gemma3_text")).read();
  }
  const Family* family = find_family(type);
  if (family == nullptr) {
    unsupported(top, "model_type",
                "expected one of " + family_names(false) + ", found \"" + type + '"');
  }
  return HfConfig(top, top, *family).read();
}

}  // namespace quire
