// SPDX-License-Identifier: Apache-2.0
// What distinguishes one text encoder from another: BERT, DistilBERT, RoBERTa (with XLM-RoBERTa
// and CamemBERT) and MPNet are one stack of layers with norms behind, described by data. Keys and
// their defaults are those of transformers' configuration classes.
//
// Thread-safety: values, and functions of their arguments.
#pragma once

#include <quire/model_config.h>
#include <quire/token.h>

#include <cstdint>
#include <string>
#include <string_view>

#include "io/json.h"

namespace quire {

enum class EncoderFamily : std::uint8_t { kBert, kDistilBert, kRoberta, kMpnet };

// MPNet's buckets of distances: transformers computes with so many, whatever the config says.
inline constexpr std::int64_t kRelativeBuckets = 32;

struct EncoderConfig {
  std::string architecture;  // model_type: "bert", "xlm-roberta", …
  EncoderFamily family = EncoderFamily::kBert;
  std::int64_t vocab_size = 0;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t intermediate = 0;
  std::int64_t heads = 0;
  std::int64_t token_types = 0;     // rows of the table whose first row every token gets; 0: none
  std::int64_t positions = 0;       // rows of the position table
  std::int64_t first_position = 0;  // the row of a text's first token
  TokenId padding = -1;             // takes the row before the first and no position; -1: none
  double norm_eps = 1e-12;
  Activation activation = Activation::kGelu;

  std::int64_t head_dim() const { return hidden / heads; }
  std::int64_t context() const { return positions - first_position; }  // tokens of a text at most
  bool has_relative_bias() const { return family == EncoderFamily::kMpnet; }
};

// Whether `model_type` is one of the above.
bool is_encoder_type(std::string_view model_type);

// `object`: a config.json. Throws Error kUnsupported (model type, activation, …), kCorrupt; both
// name the key.
EncoderConfig parse_encoder_config(const JsonObject& object);

}  // namespace quire
