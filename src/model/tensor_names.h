// SPDX-License-Identifier: Apache-2.0
// How the two formats spell the tensors of a decoder.
//
// Thread-safety: immutable.
#pragma once

#include <quire/checkpoint.h>
#include <quire/model_config.h>

#include <cstdint>
#include <string>

namespace quire {

enum class Part : std::uint8_t {
  kEmbedding,
  kFinalNorm,
  kHead,
  // Of a layer:
  kAttentionNorm,
  kQ,
  kK,
  kV,
  kQkv,
  kOut,
  kQNorm,
  kKNorm,
  kAttentionAfterNorm,
  kMlpNorm,
  kGate,
  kUp,
  kGateUp,
  kDown,
  kMlpAfterNorm,
  kRouter,
};

class TensorNames {
 public:
  TensorNames(const Checkpoint& checkpoint, const ModelConfig& config);

  // As transformers would name them in a new directory.
  explicit TensorNames(const ModelConfig& config);

  // Without the ".weight" or ".bias" that follows.
  std::string of(Part part) const;
  std::string of(Part part, std::int64_t layer) const;

  // A projection of one expert (kGate, kUp, kDown), where each is a tensor of its own; and of all
  // experts of a layer, where they are one tensor.
  std::string of_expert(Part part, std::int64_t layer, std::int64_t expert) const;
  std::string of_experts(Part part, std::int64_t layer) const;

  // Q and K rows lie in pairs: see TensorRows.
  bool interleaved() const { return interleaved_; }

 private:
  bool gguf_;
  bool interleaved_;
  bool block_sparse_moe_;
  bool norm_after_;
  std::string prefix_;  // of Hugging Face names: "model."
};

}  // namespace quire
