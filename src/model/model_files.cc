// SPDX-License-Identifier: Apache-2.0
#include "model/model_files.h"

#include <quire/error.h>

#include <string>

#include "model/generation_defaults.h"

namespace quire {

namespace {

std::shared_ptr<const Tokenizer> load_tokenizer(const Checkpoint& checkpoint) {
  const std::filesystem::path& path = checkpoint.path();
  const bool has_one = checkpoint.format() == Checkpoint::Format::kGguf ||
                       std::filesystem::exists(path / "tokenizer.json") ||
                       std::filesystem::exists(path / "tokenizer.model");
  return has_one ? Tokenizer::load(path) : nullptr;
}

// GGUF lists the tokens of the embedding's rows; a Hugging Face tokenizer may know more tokens than
// its model was given.
void check_vocabulary(const Checkpoint& checkpoint, const ModelConfig& config,
                      const Tokenizer& tokenizer) {
  if (checkpoint.format() != Checkpoint::Format::kGguf) return;
  const auto tokens = static_cast<std::int64_t>(tokenizer.vocab_size());
  if (tokens <= config.vocab_size) return;
  throw Error(ErrorCode::kCorrupt, checkpoint.path().native(),
              "tokenizer.ggml.tokens: expected at most the rows of token_embd.weight, " +
                  std::to_string(config.vocab_size) + ", found " + std::to_string(tokens));
}

}  // namespace

ModelFiles open_model(const std::filesystem::path& path) {
  ModelFiles files;
  files.checkpoint = Checkpoint::open(path);
  files.config = parse_model_config(*files.checkpoint);
  files.plan = plan_weights(*files.checkpoint, files.config);
  files.tokenizer = load_tokenizer(*files.checkpoint);
  if (files.tokenizer) check_vocabulary(*files.checkpoint, files.config, *files.tokenizer);
  files.chat_template = ChatTemplate::load(path);
  files.defaults = read_generation_defaults(*files.checkpoint, files.config, files.tokenizer.get());
  return files;
}

KvSpec kv_spec_of(const ModelConfig& config, DType dtype, Device device) {
  KvSpec spec;
  spec.dtype = dtype;
  spec.device = device;
  for (const std::int64_t window : config.windows) {
    spec.layers.push_back({config.kv_heads, config.head_dim, window});
  }
  return spec;
}

}  // namespace quire
