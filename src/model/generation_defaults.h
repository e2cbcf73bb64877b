// SPDX-License-Identifier: Apache-2.0
// What a model's files recommend for generation: generation_config.json, else the same keys in
// config.json as old files have them, else GGUF's general.sampling keys. End-of-text ids come from
// the first of generation config, config and tokenizer that declares any. The defaults of absent
// keys are transformers'.
//
// Errors: kCorrupt, naming the key.
#pragma once

#include <quire/checkpoint.h>
#include <quire/model.h>
#include <quire/model_config.h>
#include <quire/tokenizer.h>

namespace quire {

// `tokenizer` may be null.
GenerationDefaults read_generation_defaults(const Checkpoint& checkpoint, const ModelConfig& config,
                                            const Tokenizer* tokenizer);

}  // namespace quire
