// SPDX-License-Identifier: Apache-2.0
#include "model/encoder_files.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

#include "io/quote.h"

namespace quire {

namespace {

constexpr std::int64_t kFloat = sizeof(float);

// Why a path that is not laid out as a sentence encoder cannot be loaded as one.
[[noreturn]] void refuse(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::exists(path, ignored)) {
    throw Error(ErrorCode::kNotFound, path.native(), "no such file or directory");
  }
  const std::filesystem::path config = path / "config.json";
  if (std::filesystem::exists(config, ignored)) {
    const Json json = read_json_file(config);
    const std::string type = JsonObject(json, config.native()).string_or("model_type", "");
    if (!is_encoder_type(type)) {
      throw Error(ErrorCode::kUnsupported, config.native(),
                  "model_type: expected a sentence encoder, found " + quote(type));
    }
  } else if (!std::filesystem::is_directory(path, ignored)) {
    throw Error(ErrorCode::kUnsupported, path.native(),
                "expected the directory of a sentence encoder, found a file");
  }
  throw Error(ErrorCode::kNotFound, path.native(),
              "expected modules.json, which says how a sentence encoder pools, found none");
}

std::shared_ptr<const Tokenizer> load_tokenizer(const std::filesystem::path& folder) {
  std::error_code ignored;
  const bool has_one = std::filesystem::exists(folder / "tokenizer.json", ignored) ||
                       std::filesystem::exists(folder / "tokenizer.model", ignored);
  return has_one ? Tokenizer::load(folder) : nullptr;
}

std::int64_t matrix_bytes(const MatrixPlan& plan, DType asked) {
  const std::int64_t element = encoder_dtype(plan, asked) == DType::kF32 ? 4 : 2;
  return plan.rows * plan.cols * element + plan.rows * kFloat;
}

// Everything but matrices is float32, the words' table as in the file.
std::int64_t weight_bytes(const EncoderPlan& plan, DType dtype) {
  auto bytes = static_cast<std::int64_t>(plan.words->data.size());
  bytes += plan.positions->shape[0] * plan.positions->shape[1] * kFloat;
  for (const EncoderLayerPlan& layer : plan.layers) {
    for (const MatrixPlan* matrix : {&layer.qkv, &layer.out, &layer.up, &layer.down}) {
      bytes += matrix_bytes(*matrix, dtype);
    }
    bytes += 4 * layer.attention_norm.weight->shape[0] * kFloat;
  }
  return bytes;
}

ModelConfig describe(const EncoderFiles& files) {
  const EncoderConfig& encoder = files.config;
  ModelConfig config;
  config.architecture = encoder.architecture;
  config.vocab_size = encoder.vocab_size;
  config.context = files.max_tokens;
  config.layers = encoder.layers;
  config.hidden = encoder.hidden;
  config.intermediate = encoder.intermediate;
  config.heads = encoder.heads;
  config.kv_heads = encoder.heads;
  config.head_dim = encoder.head_dim();
  config.norm_eps = encoder.norm_eps;
  config.activation = encoder.activation;
  return config;
}

}  // namespace

EncoderFiles open_encoder(const std::filesystem::path& path) {
  if (!is_sentence_encoder(path)) refuse(path);
  EncoderFiles files;
  files.layout = read_sentence_layout(path);
  const std::filesystem::path& folder = files.layout.encoder;
  const std::filesystem::path config = folder / "config.json";
  const Json json = read_json_file(config);
  files.config = parse_encoder_config(JsonObject(json, config.native()));
  files.checkpoint = Checkpoint::open(folder);
  files.plan = plan_encoder(*files.checkpoint, files.config);
  files.tokenizer = load_tokenizer(folder);
  files.max_tokens = files.config.context();
  if (files.layout.max_tokens > 0) {
    files.max_tokens = std::min(files.max_tokens, files.layout.max_tokens);
  }
  return files;
}

DType encoder_dtype(const MatrixPlan& plan, DType asked) {
  if (asked != DType::kAuto && asked != DType::kNative) return asked;
  const auto all = [&](BlockType type) {
    return std::ranges::all_of(plan.parts,
                               [&](const TensorRows& part) { return part.tensor->type == type; });
  };
  if (all(BlockType::kBF16)) return DType::kBF16;
  return all(BlockType::kF16) ? DType::kF16 : DType::kF32;
}

ModelInfo inspect_encoder(const std::filesystem::path& path, DType dtype) {
  const EncoderFiles files = open_encoder(path);
  ModelInfo info;
  info.config = describe(files);
  info.format = files.checkpoint->format();
  info.parameters = files.plan.parameters;
  for (const TensorInfo& tensor : files.checkpoint->tensors()) {
    ++info.tensors;
    const auto bytes = static_cast<std::int64_t>(tensor.data.size());
    info.file_bytes += bytes;
    info.block_types[std::string(to_string(tensor.type))] += bytes;
  }
  if (files.tokenizer) {
    info.tokenizer_kind = files.tokenizer->kind();
    info.tokens = static_cast<std::int64_t>(files.tokenizer->vocab_size());
  }
  info.dtype = encoder_dtype(files.plan.layers.front().qkv, dtype);
  info.weight_bytes = weight_bytes(files.plan, dtype);
  info.kv_spec.dtype = info.dtype;
  return info;
}

}  // namespace quire
