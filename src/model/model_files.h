// SPDX-License-Identifier: Apache-2.0
// Everything about a model but its weights, opened and checked: what loading and inspecting share.
//
// Errors: as Model::load.
#pragma once

#include <quire/chat.h>
#include <quire/checkpoint.h>
#include <quire/kv_cache.h>
#include <quire/model.h>
#include <quire/model_config.h>
#include <quire/tokenizer.h>

#include <filesystem>
#include <memory>

#include "model/weights_plan.h"

namespace quire {

struct ModelFiles {
  std::shared_ptr<const Checkpoint> checkpoint;
  ModelConfig config;
  WeightsPlan plan;  // borrows the checkpoint
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const ChatTemplate> chat_template;
  GenerationDefaults defaults;
};

ModelFiles open_model(const std::filesystem::path& path);

// What the caches of a model must hold.
KvSpec kv_spec_of(const ModelConfig& config, DType dtype, Device device);

}  // namespace quire
