// SPDX-License-Identifier: Apache-2.0
// ModelConfig -> config.json and generation_config.json: what config_hf.cc reads, written. Keys are
// in the style that every transformers reads (rope_theta and rope_scaling).
//
// Thread-safety: functions of their arguments.
#pragma once

#include <quire/dtype.h>
#include <quire/model.h>
#include <quire/model_config.h>

#include <string>

#include "io/json.h"

namespace quire {

// The config that a directory with the weights of a GGUF file has: a family that has no name in
// GGUF gets its own, and what the two formats store differently becomes Hugging Face's way.
ModelConfig directory_config(ModelConfig gguf);

// `pad` is -1 if there is none. Throws Error kUnsupported, naming `subject`, when a config.json of
// this architecture would be read as something else, by parse_model_config or by transformers.
Json config_json_of(const ModelConfig& config, DType dtype, TokenId pad,
                    const std::string& subject);

Json generation_json_of(const ModelConfig& config, const GenerationDefaults& defaults, TokenId pad);

}  // namespace quire
