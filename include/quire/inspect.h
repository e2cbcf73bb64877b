// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>
#include <quire/dtype.h>
#include <quire/export.h>
#include <quire/kv_cache.h>
#include <quire/model_config.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace quire {

// What a model is, learnt without reading its weights.
struct ModelInfo {
  ModelConfig config;
  Checkpoint::Format format = Checkpoint::Format::kSafetensors;
  std::int64_t tensors = 0;
  std::int64_t parameters = 0;                      // elements that the model uses, each once
  std::int64_t file_bytes = 0;                      // of all tensors in the files
  std::map<std::string, std::int64_t> block_types;  // bytes of each: {"F32": …, "Q4_K": …}
  std::string tokenizer_kind;                       // as Tokenizer::kind; empty: none
  std::int64_t tokens = 0;                          // in the tokenizer's vocabulary
  bool has_chat_template = false;

  DType dtype = DType::kAuto;     // that loading would choose, or that was asked for
  std::int64_t weight_bytes = 0;  // in memory, in that dtype
  KvSpec kv_spec;
};

// Everything that Model::load does short of reading weights: opens the files and checks config,
// index, every tensor's place, type and shape, tokenizer and chat template.
// Throws Error as Model::load would.
QUIRE_EXPORT ModelInfo inspect(const std::filesystem::path& path, DType dtype = DType::kAuto);

// Estimated memory in bytes of a loaded model with one cache of `context` tokens: weights, keys and
// values (a layer with a window keeps no more than that), and what a pass of 512 tokens works in.
// The largest number stands for all above it.
QUIRE_EXPORT std::int64_t estimated_bytes(const ModelInfo& info, std::int64_t context);

}  // namespace quire
