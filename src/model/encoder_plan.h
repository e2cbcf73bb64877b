// SPDX-License-Identifier: Apache-2.0
// Where every weight of an encoder lies in its checkpoint, checked against the config before
// anything is read (compare weights_plan.h). Names may carry the prefix of a model with a task's
// head ("bert.", "roberta.", …).
//
// Errors: kNotFound (a tensor is missing), kCorrupt (a shape does not fit the config); both name
// the tensor.
// Thread-safety: immutable; borrows the checkpoint.
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>
#include <vector>

#include "model/encoder_config.h"
#include "model/weights_plan.h"

namespace quire {

struct NormPlan {
  const TensorInfo* weight = nullptr;
  const TensorInfo* bias = nullptr;
};

struct EncoderLayerPlan {
  MatrixPlan qkv;
  MatrixPlan out;
  NormPlan attention_norm;
  MatrixPlan up;
  MatrixPlan down;
  NormPlan output_norm;
};

struct EncoderPlan {
  const TensorInfo* words = nullptr;          // [vocab, hidden]
  const TensorInfo* positions = nullptr;      // [positions, hidden]
  const TensorInfo* types = nullptr;          // [token types, hidden]; null: none
  const TensorInfo* relative_bias = nullptr;  // [buckets, heads]; null: none
  NormPlan embedding_norm;
  std::vector<EncoderLayerPlan> layers;

  std::int64_t parameters = 0;  // elements that the encoder uses
};

EncoderPlan plan_encoder(const Checkpoint& checkpoint, const EncoderConfig& config);

}  // namespace quire
