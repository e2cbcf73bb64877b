// SPDX-License-Identifier: Apache-2.0
// The two styles in which config.json describes the rotary embedding.
#include <quire/error.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "model/config_reader.h"

namespace quire {

namespace {

std::vector<double> factors(const JsonObject& object, std::string_view key, std::int64_t count) {
  const Json& list = object.at(key);
  if (!list.is_array() || static_cast<std::int64_t>(list.size()) != count) {
    object.fail(key, "expected a list of " + std::to_string(count) + " factors" +
                         (list.is_array() ? ", found " + std::to_string(list.size()) : ""));
  }
  std::vector<double> values;
  for (const Json& item : list) {
    if (!item.is_number() || !(item.get<double>() > 0)) {
      object.fail(key, "expected numbers above 0, found " + item.dump());
    }
    values.push_back(item.get<double>());
  }
  return values;
}

// One rope: `object` holds rope_type and its factors; `config` is the whole file, where older
// styles keep some of the numbers.
class RopeReader {
 public:
  RopeReader(const JsonObject& object, const JsonObject& config, const Family& family,
             const ModelConfig& model)
      : object_(object), config_(config), family_(family), model_(model) {}

  RopeConfig read(double default_theta) {
    RopeConfig rope;
    rope.theta = theta(default_theta);
    rope.dims = dims();
    rope.scaling = scaling();
    rope.original_context = model_.context;
    switch (rope.scaling) {
      case RopeScaling::kNone:
        break;
      case RopeScaling::kLinear:
      case RopeScaling::kDynamic:
        rope.factor = positive_number(object_, "factor");
        break;
      case RopeScaling::kLlama3:
        read_llama3(rope);
        break;
      case RopeScaling::kYarn:
        read_yarn(rope);
        break;
      case RopeScaling::kLongRope:
        read_longrope(rope);
        break;
    }
    return rope;
  }

 private:
  double theta(double fallback) {
    if (object_.has("rope_theta")) return positive_number(object_, "rope_theta");
    return fallback;
  }

  std::int64_t dims() {
    const JsonObject& object = object_.has("partial_rotary_factor") ? object_ : config_;
    const double part = positive_number_or(object, "partial_rotary_factor", 1);
    const auto dims = static_cast<std::int64_t>(static_cast<double>(model_.head_dim) * part);
    if (dims < 2 || dims % 2 != 0 || dims > model_.head_dim) {
      object.fail("partial_rotary_factor", "expected an even part of head_dim " +
                                               std::to_string(model_.head_dim) + ", found " +
                                               std::to_string(part));
    }
    return dims;
  }

  RopeScaling scaling() {
    const std::string_view key = object_.has("rope_type") ? "rope_type" : "type";
    const std::string type = object_.string_or(key, "default");
    const bool phi3 = family_.model_type == "phi3";
    if (type == "default") return RopeScaling::kNone;
    if (type == "linear") return RopeScaling::kLinear;
    if (type == "dynamic") return RopeScaling::kDynamic;
    if (type == "llama3") return RopeScaling::kLlama3;
    // Phi-3's early files called their longrope "su" or "yarn".
    if (type == "longrope" || (phi3 && (type == "su" || type == "yarn"))) {
      return RopeScaling::kLongRope;
    }
    if (type == "yarn") return RopeScaling::kYarn;
    unsupported(
        object_, key,
        "expected default, linear, dynamic, llama3, yarn or longrope, found \"" + type + '"');
  }

  // The context that the model was trained on before its rope was stretched.
  std::int64_t original_context(bool required) {
    constexpr std::string_view kKey = "original_max_position_embeddings";
    const std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (config_.has(kKey)) return positive(config_, kKey, most);
    if (required) return positive(object_, kKey, most);
    return positive_or(object_, kKey, most, model_.context);
  }

  double stretch(const RopeConfig& rope) const {
    return static_cast<double>(model_.context) / static_cast<double>(rope.original_context);
  }

  void read_llama3(RopeConfig& rope) {
    rope.factor = positive_number(object_, "factor");
    rope.low_freq_factor = positive_number(object_, "low_freq_factor");
    rope.high_freq_factor = positive_number(object_, "high_freq_factor");
    if (rope.high_freq_factor <= rope.low_freq_factor) {
      object_.fail("high_freq_factor", "expected more than low_freq_factor " +
                                           std::to_string(rope.low_freq_factor) + ", found " +
                                           std::to_string(rope.high_freq_factor));
    }
    rope.original_context = original_context(true);
  }

  void read_yarn(RopeConfig& rope) {
    rope.original_context = original_context(false);
    const bool is_null = object_.json().contains("factor") && !object_.has("factor");
    rope.factor = is_null ? stretch(rope) : positive_number(object_, "factor");
    rope.beta_fast = beta("beta_fast", rope.beta_fast);
    rope.beta_slow = beta("beta_slow", rope.beta_slow);
    rope.mscale = object_.number_or("mscale", 0);
    rope.mscale_all_dim = object_.number_or("mscale_all_dim", 0);
    rope.attention_factor = positive_number_or(object_, "attention_factor", 0);
    rope.truncate = object_.boolean_or("truncate", true);
  }

  // 0 stands for the default.
  double beta(std::string_view key, double fallback) {
    const double value = object_.number_or(key, fallback);
    if (value < 0) object_.fail(key, "expected 0 or more, found " + std::to_string(value));
    return value == 0 ? fallback : value;
  }

  void read_longrope(RopeConfig& rope) {
    rope.original_context = original_context(false);
    rope.factor = positive_number_or(object_, "factor", stretch(rope));
    rope.attention_factor = positive_number_or(object_, "attention_factor", 0);
    rope.short_factors = factors(object_, "short_factor", rope.dims / 2);
    rope.long_factors = factors(object_, "long_factor", rope.dims / 2);
  }

  const JsonObject& object_;
  const JsonObject& config_;
  const Family& family_;
  const ModelConfig& model_;
};

}  // namespace

void parse_hf_rope(const JsonObject& object, const Family& family, ModelConfig& config) {
  static const Json kEmpty = Json::object();
  const JsonObject nothing(kEmpty, object.subject());
  const std::string_view key = object.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  const JsonObject given = object.object_if(key).value_or(nothing);

  // Only files that have two ropes nest them by the kind of layer.
  const JsonObject full = given.object_if("full_attention").value_or(given);
  if (!config.has_sliding_rope && given.has("full_attention")) {
    unsupported(object, key, "expected one rope for all layers, found one for each kind");
  }
  const double theta = positive_number_or(object, "rope_theta", family.rope_theta);
  config.rope = RopeReader(full, object, family, config).read(theta);
  if (config.rope.scaling == RopeScaling::kDynamic) {
    // Stretches as a text grows beyond the trained context, up to `factor` times.
    const double most = static_cast<double>(config.context) * std::max(config.rope.factor, 1.0);
    config.context = static_cast<std::int64_t>(std::min(most, 9e15));
  }
  if (!config.has_sliding_rope) return;
  const JsonObject sliding = given.object_if("sliding_attention").value_or(nothing);
  const bool one_theta = family.rope_theta_sliding == family.rope_theta;
  const double theta_sliding =
      one_theta ? theta
                : positive_number_or(object, "rope_local_base_freq", family.rope_theta_sliding);
  config.rope_sliding = RopeReader(sliding, object, family, config).read(theta_sliding);
}

}  // namespace quire
