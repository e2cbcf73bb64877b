// SPDX-License-Identifier: Apache-2.0
#include <quire/inspect.h>

#include <algorithm>

#include "io/saturate.h"
#include "model/cpu_matrix.h"
#include "model/encoder_files.h"
#include "model/model_files.h"
#include "model/weights.h"

namespace quire {

namespace {

constexpr std::int64_t kFloat = sizeof(float);

std::int64_t element_bytes(DType dtype) { return dtype == DType::kF32 ? 4 : 2; }

// Biases, like norms, are float32.
std::int64_t matrix_bytes(const MatrixPlan& plan, DType dtype) {
  const std::int64_t bias = plan.biases.empty() ? 0 : plan.rows * kFloat;
  return (plan.rows == 0 ? 0 : CpuMatrix::packed_bytes(plan, dtype)) + bias;
}

std::int64_t layer_bytes(const LayerPlan& layer, DType dtype) {
  std::int64_t bytes = 0;
  for (const MatrixPlan* plan :
       {&layer.qkv, &layer.out, &layer.gate_up, &layer.down, &layer.router}) {
    bytes += matrix_bytes(*plan, dtype);
  }
  for (const ExpertPlan& expert : layer.experts) {
    bytes += matrix_bytes(expert.gate_up, dtype) + matrix_bytes(expert.down, dtype);
  }
  for (const TensorInfo* norm :
       {layer.attention_norm, layer.q_norm, layer.k_norm, layer.attention_after_norm,
        layer.mlp_norm, layer.mlp_after_norm}) {
    if (norm != nullptr) bytes += norm->shape[0] * kFloat;
  }
  return bytes;
}

std::int64_t weight_bytes(const WeightsPlan& plan, DType dtype) {
  std::int64_t bytes = matrix_bytes(plan.embedding, dtype) + matrix_bytes(plan.head, dtype);
  for (const LayerPlan& layer : plan.layers) bytes += layer_bytes(layer, dtype);
  return bytes + plan.final_norm->shape[0] * kFloat;
}

}  // namespace

ModelInfo inspect(const std::filesystem::path& path, DType dtype) {
  if (is_sentence_encoder(path)) return inspect_encoder(path, dtype);
  const ModelFiles files = open_model(path);
  ModelInfo info;
  info.config = files.config;
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
  info.has_chat_template = files.chat_template != nullptr;
  info.dtype = resolve_dtype(dtype, files.plan, Device::kCpu);
  info.weight_bytes = weight_bytes(files.plan, info.dtype);
  info.kv_spec = kv_spec_of(files.config, info.dtype, Device::kCpu);
  return info;
}

std::int64_t estimated_bytes(const ModelInfo& info, std::int64_t context) {
  constexpr std::int64_t kPassTokens = 512;
  const ModelConfig& config = info.config;
  std::int64_t kv = 0;
  for (const KvLayer& layer : info.kv_spec.layers) {
    const std::int64_t kept = layer.window > 0 ? std::min(layer.window, context) : context;
    const std::int64_t token =
        2 * layer.kv_heads * layer.head_dim * element_bytes(info.kv_spec.dtype);
    kv = saturating_sum(kv, saturating_product(kept, token));
  }
  const std::int64_t widths = 3 * config.hidden +
                              2 * (config.heads + config.kv_heads) * config.head_dim +
                              2 * std::max(config.intermediate, config.expert_intermediate);
  const std::int64_t pass = std::min(context, kPassTokens) * widths * kFloat;
  return saturating_sum(saturating_sum(info.weight_bytes, kv), pass + config.vocab_size * kFloat);
}

}  // namespace quire
