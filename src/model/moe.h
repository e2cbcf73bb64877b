// SPDX-License-Identifier: Apache-2.0
// A mixture of experts in place of an MLP: each token is computed by the experts that its router
// scores highest, and by no others. A token's sum runs over its experts in ascending order, so it
// depends neither on the tokens beside it nor on the threads.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/model_config.h>

#include "model/ops.h"
#include "model/weights.h"

namespace quire {

// y = the mixture's output for the rows of x; overlaps it not.
void mixture(const Ops& ops, const ModelConfig& config, const LayerWeights& layer,
             const at::Tensor& x, at::Tensor& y, ThreadPool* pool);

}  // namespace quire
