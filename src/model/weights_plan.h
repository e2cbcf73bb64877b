// SPDX-License-Identifier: Apache-2.0
// Where every weight of a model lies in its checkpoint, checked against the config before anything
// is read: names by format and family, shapes, and which rows make up which matrix. Loading follows
// the plan; inspecting only makes it.
//
// Errors: kNotFound (a tensor is missing), kCorrupt (a shape does not fit the config); both name
// the tensor.
// Thread-safety: immutable; borrows the checkpoint.
#pragma once

#include <quire/checkpoint.h>
#include <quire/model_config.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace quire {

// `count` rows of a tensor from `first` on. A tensor of three dimensions counts as its rows.
struct TensorRows {
  const TensorInfo* tensor = nullptr;
  std::int64_t first = 0;
  std::int64_t count = 0;
  // GGUF's order for some families: in each head of `head_dim` rows, the halves that are rotated
  // against each other, `paired` rows in all, lie interleaved. 0: as they are.
  std::int64_t head_dim = 0;
  std::int64_t paired = 0;

  // The row of the tensor that is row `row` here.
  std::int64_t file_row(std::int64_t row) const;

  // The bytes of all of them.
  std::span<const std::byte> encoded() const;
};

// A matrix stacked of rows of tensors; empty: not in this model.
struct MatrixPlan {
  std::vector<TensorRows> parts;
  std::vector<TensorRows> biases;  // a bias counts as rows of one element; empty: none
  std::int64_t rows = 0;
  std::int64_t cols = 0;
};

// Rows [first, first + count) of a matrix as floats, row-major.
void read_rows(const MatrixPlan& plan, std::int64_t first, std::int64_t count, float* out);

// The bias of every row; empty if there is none.
std::vector<float> read_biases(const MatrixPlan& plan);

// All elements of a one-dimensional tensor.
std::vector<float> read_vector(const TensorInfo& tensor);

struct ExpertPlan {
  MatrixPlan gate_up;
  MatrixPlan down;
};

// nullptr: the family has no such norm.
struct LayerPlan {
  const TensorInfo* attention_norm = nullptr;
  MatrixPlan qkv;
  const TensorInfo* q_norm = nullptr;
  const TensorInfo* k_norm = nullptr;
  MatrixPlan out;
  const TensorInfo* attention_after_norm = nullptr;
  const TensorInfo* mlp_norm = nullptr;
  MatrixPlan gate_up;
  MatrixPlan down;
  MatrixPlan router;
  std::vector<ExpertPlan> experts;
  const TensorInfo* mlp_after_norm = nullptr;
};

struct WeightsPlan {
  MatrixPlan embedding;
  std::vector<LayerPlan> layers;
  const TensorInfo* final_norm = nullptr;
  MatrixPlan head;  // empty: the embedding

  std::int64_t parameters = 0;  // elements that the model uses
};

WeightsPlan plan_weights(const Checkpoint& checkpoint, const ModelConfig& config);

}  // namespace quire
