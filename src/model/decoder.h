// SPDX-License-Identifier: Apache-2.0
// The forward pass of every family: a stack of attention and MLP blocks described by a ModelConfig,
// over a ragged batch. One workspace a pass; nothing is allocated layer by layer, mixtures of
// experts apart.
//
// Thread-safety: immutable; passes with distinct caches may run concurrently.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/model.h>
#include <quire/model_config.h>

#include <optional>
#include <span>

#include "model/ops.h"
#include "model/rope.h"
#include "model/weights.h"

namespace quire {

class Decoder {
 public:
  // Borrows all of it.
  Decoder(const ModelConfig& config, const Weights& weights, const Ops& ops);

  // As Model::forward.
  at::Tensor forward(std::span<const Sequence> batch, ThreadPool* pool) const;

 private:
  struct Workspace;
  struct RopeTable;

  void check(std::span<const Sequence> batch) const;
  RopeTable make_table(const Rope& rope, std::span<const Sequence> batch) const;
  Workspace make_workspace(std::span<const Sequence> batch) const;
  void attention(std::int64_t layer, std::span<const Sequence> batch, Workspace& work,
                 ThreadPool* pool) const;
  void mlp(const LayerWeights& layer, Workspace& work, ThreadPool* pool) const;
  void add_block(const at::Tensor& after_norm, Workspace& work, ThreadPool* pool) const;
  at::Tensor logits(std::span<const Sequence> batch, Workspace& work, ThreadPool* pool) const;

  const ModelConfig& config_;
  const Weights& weights_;
  const Ops& ops_;
  Rope rope_;
  std::optional<Rope> rope_sliding_;
};

}  // namespace quire
