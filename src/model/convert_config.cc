// SPDX-License-Identifier: Apache-2.0
#include "model/convert_config.h"

#include <quire/error.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>
#include <vector>

#include "model/config_reader.h"
#include "model/families.h"

namespace quire {

namespace {

// transformers' model classes, all but the "ForCausalLM" they end in.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kClasses = {{
    {"llama", "Llama"},
    {"mistral", "Mistral"},
    {"mixtral", "Mixtral"},
    {"qwen2", "Qwen2"},
    {"qwen3", "Qwen3"},
    {"qwen3_moe", "Qwen3Moe"},
    {"phi3", "Phi3"},
    {"gemma", "Gemma"},
    {"gemma2", "Gemma2"},
    {"gemma3_text", "Gemma3"},
    {"smollm3", "SmolLM3"},
    {"olmo2", "Olmo2"},
    {"olmo3", "Olmo3"},
    {"granite", "Granite"},
}};

// The shortest decimal that is the same float32: 1e-05 in place of 9.999999747378752e-06.
double shortest(double value) {
  std::array<char, 32> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), static_cast<float>(value));
  double result = value;
  std::from_chars(text.data(), end.ptr, result);
  return result;
}

Json token_json(TokenId id) { return id < 0 ? Json() : Json(id); }

Json eos_json(const std::vector<TokenId>& eos) {
  if (eos.empty()) return nullptr;
  return eos.size() == 1 ? Json(eos.front()) : Json(eos);
}

class ConfigWriter {
 public:
  ConfigWriter(const ModelConfig& config, const Family& family)
      : config_(config), family_(family) {}

  Json write() {
    write_sizes();
    write_blocks();
    write_experts();
    write_rope();
    write_windows();
    write_scales();
    return std::move(json_);
  }

 private:
  void write_sizes() {
    json_["model_type"] = config_.architecture;
    for (const auto& [type, name] : kClasses) {
      if (type == config_.architecture) {
        json_["architectures"] = Json::array({std::string(name) + "ForCausalLM"});
      }
    }
    json_["vocab_size"] = config_.vocab_size;
    json_["hidden_size"] = config_.hidden;
    json_["num_hidden_layers"] = config_.layers;
    json_["intermediate_size"] = config_.intermediate;
    json_["num_attention_heads"] = config_.heads;
    json_["num_key_value_heads"] = config_.kv_heads;
    json_["head_dim"] = config_.head_dim;
    // A dynamic rope's context is already the stretched one.
    json_["max_position_embeddings"] = config_.rope.scaling == RopeScaling::kDynamic
                                           ? config_.rope.original_context
                                           : config_.context;
    json_["rms_norm_eps"] = config_.norm_eps;
    json_["tie_word_embeddings"] = config_.tied_head;
    json_["eos_token_id"] = eos_json(config_.eos);
    json_["bos_token_id"] = token_json(config_.bos);
  }

  void write_blocks() {
    const bool renamed = family_.gemma && family_.model_type != "gemma";
    const char* activation = config_.activation == Activation::kSilu   ? "silu"
                             : config_.activation == Activation::kGelu ? "gelu"
                                                                       : "gelu_pytorch_tanh";
    json_[renamed ? "hidden_activation" : "hidden_act"] = activation;
    if (family_.bias == AttentionBias::kDeclared) json_["attention_bias"] = config_.attention_bias;
    if (family_.mlp_bias) json_["mlp_bias"] = config_.mlp_bias;
  }

  void write_experts() {
    if (config_.experts == 0) return;
    json_["num_experts_per_tok"] = config_.experts_per_token;
    if (family_.experts == ExpertNames::kBlockSparseMoe) {
      json_["num_local_experts"] = config_.experts;
      return;
    }
    json_["num_experts"] = config_.experts;
    json_["moe_intermediate_size"] = config_.expert_intermediate;
    json_["norm_topk_prob"] = config_.norm_expert_weights;
    json_["decoder_sparse_step"] = 1;
    Json dense = Json::array();
    for (std::size_t i = 0; i < config_.layer_is_moe.size(); ++i) {
      if (!config_.layer_is_moe[i]) dense.push_back(i);
    }
    json_["mlp_only_layers"] = std::move(dense);
  }

  void write_rope() {
    const RopeConfig& rope = config_.rope;
    json_["rope_theta"] = rope.theta;
    if (config_.has_sliding_rope && family_.rope_theta_sliding != family_.rope_theta) {
      json_["rope_local_base_freq"] = config_.rope_sliding.theta;
    }
    if (rope.dims != config_.head_dim) {
      json_["partial_rotary_factor"] =
          static_cast<double>(rope.dims) / static_cast<double>(config_.head_dim);
    }
    if (family_.model_type == "phi3" && rope.scaling == RopeScaling::kLongRope) {
      json_["original_max_position_embeddings"] = rope.original_context;
    }
    json_["rope_scaling"] = scaling_json(rope);
  }

  static Json scaling_json(const RopeConfig& rope) {
    Json json = Json::object();
    if (rope.scaling == RopeScaling::kNone) return nullptr;
    json["factor"] = rope.factor;
    if (rope.attention_factor > 0) json["attention_factor"] = rope.attention_factor;
    const auto stretched_from = [&] {
      json["original_max_position_embeddings"] = rope.original_context;
    };
    switch (rope.scaling) {
      case RopeScaling::kNone:
        break;
      case RopeScaling::kLinear:
        json["rope_type"] = "linear";
        break;
      case RopeScaling::kDynamic:
        json["rope_type"] = "dynamic";
        break;
      case RopeScaling::kLlama3:
        json["rope_type"] = "llama3";
        json["low_freq_factor"] = rope.low_freq_factor;
        json["high_freq_factor"] = rope.high_freq_factor;
        stretched_from();
        break;
      case RopeScaling::kYarn:
        json["rope_type"] = "yarn";
        json["beta_fast"] = rope.beta_fast;
        json["beta_slow"] = rope.beta_slow;
        if (rope.mscale != 0) json["mscale"] = rope.mscale;
        if (rope.mscale_all_dim != 0) json["mscale_all_dim"] = rope.mscale_all_dim;
        if (!rope.truncate) json["truncate"] = false;
        stretched_from();
        break;
      case RopeScaling::kLongRope:
        json["rope_type"] = "longrope";
        json["short_factor"] = rope.short_factors;
        json["long_factor"] = rope.long_factors;
        stretched_from();
        break;
    }
    return json;
  }

  void write_windows() {
    if (family_.rope_free_period > 0) {
      Json with_rope = Json::array();
      for (const bool has : config_.layer_has_rope) with_rope.push_back(has ? 1 : 0);
      json_["no_rope_layers"] = std::move(with_rope);
      json_["no_rope_layer_interval"] = family_.rope_free_period;
    }
    const auto first = std::find_if(config_.windows.begin(), config_.windows.end(),
                                    [](std::int64_t window) { return window > 0; });
    const bool has = first != config_.windows.end();
    const std::int64_t window = has ? *first : 0;
    switch (family_.windows) {
      case Windows::kNone:
        return;
      case Windows::kEvery:
        json_["sliding_window"] = has ? Json(window) : Json();
        return;
      case Windows::kPeriodic:
        json_["sliding_window"] = has ? window : family_.window;
        break;
      case Windows::kLate:
        if (has) json_["max_window_layers"] = first - config_.windows.begin();
        [[fallthrough]];
      case Windows::kSwitched:
      case Windows::kWithoutRope:
        json_["use_sliding_window"] = has;
        json_["sliding_window"] = has ? Json(window) : Json();
        if (!has || family_.windows == Windows::kSwitched) return;
        break;
    }
    Json types = Json::array();
    for (const std::int64_t each : config_.windows) {
      types.push_back(each > 0 ? "sliding_attention" : "full_attention");
    }
    json_["layer_types"] = std::move(types);
  }

  void write_scales() {
    if (family_.model_type == "granite") {
      json_["attention_multiplier"] = config_.attention_scale;
      json_["embedding_multiplier"] = config_.embedding_scale;
      json_["residual_multiplier"] = config_.residual_scale;
      json_["logits_scaling"] = shortest(1 / config_.logits_scale);
    }
    if (!family_.gemma || family_.model_type == "gemma") return;
    const double scalar = 1 / (config_.attention_scale * config_.attention_scale);
    const double whole = std::round(scalar);
    json_["query_pre_attn_scalar"] =
        1 / std::sqrt(whole) == config_.attention_scale ? Json(std::llround(whole)) : Json(scalar);
    const auto cap = [](double value) { return value > 0 ? Json(value) : Json(); };
    json_["attn_logit_softcapping"] = cap(config_.attention_softcap);
    json_["final_logit_softcapping"] = cap(config_.logits_softcap);
  }

  const ModelConfig& config_;
  const Family& family_;
  Json json_ = Json::object();
};

// A config.json that is in no file.
class ConfigText final : public Checkpoint {
 public:
  explicit ConfigText(std::string text) : text_(std::move(text)) {}
  Format format() const override { return Format::kSafetensors; }
  const std::filesystem::path& path() const override { return path_; }
  std::span<const TensorInfo> tensors() const override { return {}; }
  const TensorInfo* find(std::string_view) const override { return nullptr; }
  std::string_view config_json() const override { return text_; }

 private:
  std::string text_;
  std::filesystem::path path_;
};

}  // namespace

ModelConfig directory_config(ModelConfig config) {
  // Mistral's files call themselves llama, and only their window tells.
  const bool has_window = std::any_of(config.windows.begin(), config.windows.end(),
                                      [](std::int64_t window) { return window > 0; });
  if (config.architecture == "llama" && has_window) config.architecture = "mistral";
  config.norm_plus_one = find_family(config.architecture)->gemma;
  config.norm_eps = shortest(config.norm_eps);  // computed with as float32
  // Where nothing is stretched there is no other context than the model's.
  for (RopeConfig* rope : {&config.rope, &config.rope_sliding}) {
    const bool stretched =
        rope->scaling != RopeScaling::kNone && rope->scaling != RopeScaling::kLinear;
    if (rope->dims > 0 && !stretched) rope->original_context = config.context;
  }
  return config;
}

Json config_json_of(const ModelConfig& config, DType dtype, TokenId pad,
                    const std::string& subject) {
  const Family& family = *find_family(config.architecture);
  if (config.rope.dims != config.head_dim && family.model_type != "phi3") {
    throw Error(ErrorCode::kUnsupported, subject,
                "rope.dimension_count: transformers' " + config.architecture +
                    " rotates whole heads of " + std::to_string(config.head_dim) + ", found " +
                    std::to_string(config.rope.dims));
  }
  Json json = ConfigWriter(config, family).write();
  if (parse_hf_config(ConfigText(json.dump())) != config) {
    throw Error(ErrorCode::kUnsupported, subject,
                "a config.json of model_type " + config.architecture +
                    " cannot describe this model (its biases, windows or scales)");
  }
  json["pad_token_id"] = token_json(pad);
  json["torch_dtype"] = dtype == DType::kF32 ? "float32" : "bfloat16";
  return json;
}

Json generation_json_of(const ModelConfig& config, const GenerationDefaults& defaults,
                        TokenId pad) {
  const Sampling& sampling = defaults.sampling;
  Json json = {{"bos_token_id", token_json(config.bos)},
               {"eos_token_id", eos_json(defaults.eos)},
               {"pad_token_id", token_json(pad)},
               {"do_sample", defaults.do_sample}};
  if (sampling.repetition_penalty != 1) {
    json["repetition_penalty"] = shortest(sampling.repetition_penalty);
  }
  if (!defaults.do_sample) return json;
  json["temperature"] = shortest(sampling.temperature);
  json["top_k"] = sampling.top_k;
  json["top_p"] = shortest(sampling.top_p);
  if (sampling.min_p > 0) json["min_p"] = shortest(sampling.min_p);
  return json;
}

}  // namespace quire
