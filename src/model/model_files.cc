// SPDX-License-Identifier: Apache-2.0
#include "model/model_files.h"

#include <quire/error.h>

#include <string>
#include <system_error>

#include "model/generation_defaults.h"

namespace quire {

namespace {

bool has_file(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

std::shared_ptr<const Tokenizer> load_tokenizer(const Checkpoint& checkpoint) {
  const std::filesystem::path& path = checkpoint.path();
  const bool has_one = checkpoint.format() == Checkpoint::Format::kGguf ||
                       has_file(path / "tokenizer.json") || has_file(path / "tokenizer.model");
  return has_one ? Tokenizer::load(path) : nullptr;
}

// Every token that the tokenizer can give must have a row in the embedding.
void check_vocabulary(const Checkpoint& checkpoint, const ModelConfig& config,
                      const WeightsPlan& plan, const Tokenizer& tokenizer) {
  const auto tokens = static_cast<std::int64_t>(tokenizer.vocab_size());
  if (tokens <= config.vocab_size) return;
  throw Error(ErrorCode::kCorrupt, checkpoint.path().native(),
              "token \"" + tokenizer.token(static_cast<TokenId>(tokens - 1)) + "\" has the id " +
                  std::to_string(tokens - 1) + ", but " + plan.embedding.parts[0].tensor->name +
                  " has " + std::to_string(config.vocab_size) + " rows");
}

}  // namespace

ModelFiles open_model(const std::filesystem::path& path) {
  ModelFiles files;
  files.checkpoint = Checkpoint::open(path);
  files.config = parse_model_config(*files.checkpoint);
  files.plan = plan_weights(*files.checkpoint, files.config);
  files.tokenizer = load_tokenizer(*files.checkpoint);
  if (files.tokenizer) {
    check_vocabulary(*files.checkpoint, files.config, files.plan, *files.tokenizer);
  }
  files.chat_template = ChatTemplate::load(path);
  files.defaults = read_generation_defaults(*files.checkpoint, files.config, files.tokenizer.get());
  return files;
}

KvSpec kv_spec_of(const ModelConfig& config, DType dtype, Device device) {
  KvSpec spec;
  spec.dtype = dtype == DType::kNative ? DType::kBF16 : dtype;
  spec.device = device;
  for (const std::int64_t window : config.windows) {
    spec.layers.push_back({config.kv_heads, config.head_dim, window});
  }
  return spec;
}

}  // namespace quire
