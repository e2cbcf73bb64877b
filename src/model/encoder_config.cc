// SPDX-License-Identifier: Apache-2.0
#include "model/encoder_config.h"

#include <algorithm>
#include <array>

#include "io/quote.h"
#include "model/config_reader.h"

namespace quire {

namespace {

struct Type {
  std::string_view name;
  EncoderFamily family;
};

constexpr std::array<Type, 6> kTypes = {{{"bert", EncoderFamily::kBert},
                                         {"distilbert", EncoderFamily::kDistilBert},
                                         {"mpnet", EncoderFamily::kMpnet},
                                         {"roberta", EncoderFamily::kRoberta},
                                         {"xlm-roberta", EncoderFamily::kRoberta},
                                         {"camembert", EncoderFamily::kRoberta}}};

struct Keys {
  std::string_view layers, hidden, intermediate, heads, activation;
};

constexpr Keys kUsualKeys = {"num_hidden_layers", "hidden_size", "intermediate_size",
                             "num_attention_heads", "hidden_act"};
constexpr Keys kDistilBertKeys = {"n_layers", "dim", "hidden_dim", "n_heads", "activation"};

constexpr std::int64_t kMaxPositions = 1 << 20;

const Type* find_type(std::string_view name) {
  const auto* found = std::ranges::find(kTypes, name, &Type::name);
  return found == kTypes.end() ? nullptr : found;
}

Activation read_activation(const JsonObject& object, std::string_view key) {
  const std::string name = object.string_or(key, "gelu");
  if (name == "gelu") return Activation::kGelu;
  if (name == "gelu_new" || name == "gelu_pytorch_tanh") return Activation::kGeluTanh;
  if (name == "silu" || name == "swish") return Activation::kSilu;
  unsupported(object, key, "expected gelu, gelu_new or silu, found " + quote(name));
}

void refuse_variants(const JsonObject& object) {
  const std::string positions = object.string_or("position_embedding_type", "absolute");
  if (positions != "absolute") {
    unsupported(object, "position_embedding_type",
                "expected \"absolute\", found " + quote(positions));
  }
  if (object.boolean_or("is_decoder", false)) {
    unsupported(object, "is_decoder", "expected false for a sentence encoder, found true");
  }
  if (const auto method = object.object_if("quantization_config")) {
    unsupported(object, "quantization_config",
                "no support for quant_method " + quote(method->string_or("quant_method", "")));
  }
}

// RoBERTa and MPNet count positions from behind the padding token's id.
void read_positions(const JsonObject& object, EncoderConfig& config) {
  config.positions = positive_or(object, "max_position_embeddings", kMaxPositions, 512);
  if (config.family != EncoderFamily::kRoberta && config.family != EncoderFamily::kMpnet) return;
  const std::int64_t padding = object.integer_or("pad_token_id", 1);
  if (padding < 0 || padding >= config.vocab_size) {
    object.fail("pad_token_id", "expected 0 to " + std::to_string(config.vocab_size - 1) +
                                    ", found " + std::to_string(padding));
  }
  config.padding = static_cast<TokenId>(padding);
  config.first_position = padding + 1;
  if (config.context() < 1) {
    object.fail("max_position_embeddings", "expected more than pad_token_id + 1, which is " +
                                               std::to_string(padding + 1) + ", found " +
                                               std::to_string(config.positions));
  }
}

}  // namespace

bool is_encoder_type(std::string_view model_type) { return find_type(model_type) != nullptr; }

EncoderConfig parse_encoder_config(const JsonObject& object) {
  const std::string name = object.string("model_type");
  const Type* type = find_type(name);
  if (type == nullptr) {
    unsupported(object, "model_type",
                "expected a sentence encoder (bert, distilbert, mpnet, roberta, xlm-roberta, "
                "camembert), found " +
                    quote(name));
  }
  refuse_variants(object);
  const bool distil = type->family == EncoderFamily::kDistilBert;
  const Keys& keys = distil ? kDistilBertKeys : kUsualKeys;
  EncoderConfig config;
  config.architecture = name;
  config.family = type->family;
  config.vocab_size = positive(object, "vocab_size", kMaxVocab);
  config.layers = positive(object, keys.layers, kMaxLayers);
  config.hidden = positive(object, keys.hidden, kMaxWidth);
  config.intermediate = positive(object, keys.intermediate, kMaxWidth);
  config.heads = positive(object, keys.heads, kMaxWidth);
  if (config.hidden % config.heads != 0) {
    object.fail(keys.heads, "expected a divisor of " + std::string(keys.hidden) + ", " +
                                std::to_string(config.hidden) + ", found " +
                                std::to_string(config.heads));
  }
  if (!distil) config.norm_eps = positive_number_or(object, "layer_norm_eps", config.norm_eps);
  config.activation = read_activation(object, keys.activation);
  if (type->family == EncoderFamily::kBert || type->family == EncoderFamily::kRoberta) {
    config.token_types = positive_or(object, "type_vocab_size", kMaxVocab, 2);
  }
  if (config.has_relative_bias() &&
      object.integer_or("relative_attention_num_buckets", kRelativeBuckets) != kRelativeBuckets) {
    unsupported(object, "relative_attention_num_buckets",
                "expected " + std::to_string(kRelativeBuckets) + ", found " +
                    std::to_string(object.integer("relative_attention_num_buckets")));
  }
  read_positions(object, config);
  return config;
}

}  // namespace quire
