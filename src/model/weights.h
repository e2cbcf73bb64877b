// SPDX-License-Identifier: Apache-2.0
// The weights of a decoder in memory, ready for the operations that will use them.
//
// Thread-safety: immutable after loading.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/model_config.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "model/ops.h"
#include "model/weights_plan.h"

namespace quire {

using MatrixPtr = std::unique_ptr<const Matrix>;

struct ExpertWeights {
  MatrixPtr gate_up;
  MatrixPtr down;
};

// Undefined norms and null matrices: the model has none.
struct LayerWeights {
  at::Tensor attention_norm;
  MatrixPtr qkv;  // rows of q, then k, then v
  at::Tensor q_norm;
  at::Tensor k_norm;
  MatrixPtr out;
  at::Tensor attention_after_norm;
  at::Tensor mlp_norm;
  MatrixPtr gate_up;  // rows of gate, then up
  MatrixPtr down;
  MatrixPtr router;
  std::vector<ExpertWeights> experts;
  at::Tensor mlp_after_norm;
};

struct Weights {
  MatrixPtr embedding;
  std::vector<LayerWeights> layers;
  at::Tensor final_norm;
  MatrixPtr own_head;
  std::string fingerprint;  // of everything read, as it was encoded

  const Matrix& head() const { return own_head ? *own_head : *embedding; }
};

// What DType::kAuto stands for with these files: kNative where blocks are quantised, if `device`
// has kernels for them; else kF32 if all matrices are that wide, else kBF16. number_dtype leaves
// kNative out.
DType resolve_dtype(DType asked, const WeightsPlan& plan, Device device);
DType number_dtype(DType asked, const WeightsPlan& plan);

// Reads, decodes and packs everything. `progress` may be empty; it is called on this thread with
// the fraction done.
Weights load_weights(const WeightsPlan& plan, const ModelConfig& config, const Ops& ops,
                     DType dtype, ThreadPool* pool, const std::function<void(double)>& progress);

}  // namespace quire
