// SPDX-License-Identifier: Apache-2.0
#include "model/weights_plan.h"

#include <quire/error.h>

#include <algorithm>
#include <span>

#include "model/tensor_names.h"

namespace quire {

namespace {

using Shape = std::vector<std::int64_t>;

std::string to_text(const Shape& shape) {
  std::string text = "[";
  for (const std::int64_t size : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(size);
  }
  return text + ']';
}

class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const ModelConfig& config)
      : checkpoint_(checkpoint), config_(config), names_(checkpoint, config) {}

  WeightsPlan plan() {
    WeightsPlan plan;
    plan.embedding = matrix({rows(names_.of(Part::kEmbedding), config_.vocab_size, config_.hidden)},
                            config_.hidden, {});
    for (std::int64_t i = 0; i < config_.layers; ++i) plan.layers.push_back(layer(i));
    plan.final_norm = vector(names_.of(Part::kFinalNorm) + ".weight", config_.hidden);
    if (!config_.tied_head) {
      plan.head = matrix({rows(names_.of(Part::kHead), config_.vocab_size, config_.hidden)},
                         config_.hidden, {});
    }
    plan.parameters = parameters_;
    return plan;
  }

 private:
  const TensorInfo& tensor(const std::string& name, const Shape& shape) {
    const TensorInfo* found = checkpoint_.find(name);
    if (found == nullptr) {
      throw Error(ErrorCode::kNotFound, checkpoint_.path().native(),
                  "tensor " + name + " is missing; expected it with shape " + to_text(shape));
    }
    if (found->shape != shape) {
      throw Error(ErrorCode::kCorrupt, checkpoint_.path().native(),
                  "tensor " + name + ": expected shape " + to_text(shape) + ", found " +
                      to_text(found->shape));
    }
    std::int64_t elements = 1;
    for (const std::int64_t size : shape) elements *= size;
    parameters_ += elements;
    return *found;
  }

  const TensorInfo* vector(const std::string& name, std::int64_t size) {
    return &tensor(name, {size});
  }

  TensorRows rows(const std::string& name, std::int64_t count, std::int64_t cols) {
    return {.tensor = &tensor(name + ".weight", {count, cols}), .count = count};
  }

  TensorRows bias(const std::string& name, std::int64_t count) {
    return {.tensor = &tensor(name + ".bias", {count}), .count = count};
  }

  static MatrixPlan matrix(std::vector<TensorRows> parts, std::int64_t cols,
                           std::vector<TensorRows> biases) {
    MatrixPlan plan;
    plan.parts = std::move(parts);
    plan.biases = std::move(biases);
    plan.cols = cols;
    for (const TensorRows& part : plan.parts) plan.rows += part.count;
    return plan;
  }

  // Linear layers that are computed as one, `counts` rows each.
  MatrixPlan stacked(std::initializer_list<Part> parts, std::int64_t layer,
                     std::initializer_list<std::int64_t> counts, std::int64_t cols, bool has_bias) {
    MatrixPlan plan;
    plan.cols = cols;
    const std::int64_t* count = counts.begin();
    for (const Part part : parts) {
      const std::string name = names_.of(part, layer);
      plan.parts.push_back(rows(name, *count, cols));
      if (has_bias) plan.biases.push_back(bias(name, *count));
      if (names_.interleaved() && (part == Part::kQ || part == Part::kK)) {
        interleave(plan.parts.back());
        if (has_bias) interleave(plan.biases.back());
      }
      plan.rows += *count++;
    }
    return plan;
  }

  void interleave(TensorRows& rows) const {
    rows.head_dim = config_.head_dim;
    rows.paired = config_.rope.dims;
  }

  LayerPlan layer(std::int64_t i) {
    const std::int64_t q = config_.heads * config_.head_dim;
    const std::int64_t kv = config_.kv_heads * config_.head_dim;
    const std::int64_t hidden = config_.hidden;
    LayerPlan plan;
    if (config_.norm_before) plan.attention_norm = norm(Part::kAttentionNorm, i, hidden);
    plan.qkv = config_.fused_qkv
                   ? stacked({Part::kQkv}, i, {q + 2 * kv}, hidden, config_.attention_bias)
                   : stacked({Part::kQ, Part::kK, Part::kV}, i, {q, kv, kv}, hidden,
                             config_.attention_bias);
    if (config_.qk_norm || config_.qk_norm_full) {
      plan.q_norm = norm(Part::kQNorm, i, config_.qk_norm_full ? q : config_.head_dim);
      plan.k_norm = norm(Part::kKNorm, i, config_.qk_norm_full ? kv : config_.head_dim);
    }
    plan.out = stacked({Part::kOut}, i, {hidden}, q, config_.attention_out_bias);
    if (config_.norm_after) plan.attention_after_norm = norm(Part::kAttentionAfterNorm, i, hidden);
    if (config_.norm_before) plan.mlp_norm = norm(Part::kMlpNorm, i, hidden);
    if (config_.experts > 0 && config_.layer_is_moe[static_cast<std::size_t>(i)]) {
      plan_experts(i, plan);
    } else {
      const std::int64_t inner = config_.intermediate;
      plan.gate_up =
          config_.fused_gate_up
              ? stacked({Part::kGateUp}, i, {2 * inner}, hidden, config_.mlp_bias)
              : stacked({Part::kGate, Part::kUp}, i, {inner, inner}, hidden, config_.mlp_bias);
      plan.down = stacked({Part::kDown}, i, {hidden}, inner, config_.mlp_bias);
    }
    if (config_.norm_after) plan.mlp_after_norm = norm(Part::kMlpAfterNorm, i, hidden);
    return plan;
  }

  const TensorInfo* norm(Part part, std::int64_t layer, std::int64_t size) {
    return vector(names_.of(part, layer) + ".weight", size);
  }

  void plan_experts(std::int64_t i, LayerPlan& plan) {
    const std::int64_t inner = config_.expert_intermediate;
    const std::int64_t hidden = config_.hidden;
    plan.router = stacked({Part::kRouter}, i, {config_.experts}, hidden, false);
    for (std::int64_t e = 0; e < config_.experts; ++e) {
      const TensorRows gate = expert(Part::kGate, i, e, inner, hidden);
      const TensorRows up = expert(Part::kUp, i, e, inner, hidden);
      const TensorRows down = expert(Part::kDown, i, e, hidden, inner);
      plan.experts.push_back({matrix({gate, up}, hidden, {}), matrix({down}, inner, {})});
    }
  }

  // One tensor for all experts of a layer, or one each.
  TensorRows expert(Part part, std::int64_t layer, std::int64_t e, std::int64_t count,
                    std::int64_t cols) {
    const std::string all = names_.of_experts(part, layer) + ".weight";
    if (checkpoint_.find(all) == nullptr)
      return rows(names_.of_expert(part, layer, e), count, cols);
    const std::int64_t before = parameters_;
    const TensorInfo& found = tensor(all, {config_.experts, count, cols});
    parameters_ = before + count * cols;  // this expert's share
    return {.tensor = &found, .first = e * count, .count = count};
  }

  const Checkpoint& checkpoint_;
  const ModelConfig& config_;
  TensorNames names_;
  std::int64_t parameters_ = 0;
};

}  // namespace

std::int64_t TensorRows::file_row(std::int64_t row) const {
  if (head_dim == 0 || row % head_dim >= paired) return first + row;
  const std::int64_t half = paired / 2;
  const std::int64_t in_head = row % head_dim;
  return first + row - in_head + 2 * (in_head % half) + in_head / half;
}

std::span<const std::byte> TensorRows::encoded() const {
  const std::vector<std::int64_t>& shape = tensor->shape;
  std::int64_t rows = 1;
  for (std::size_t i = 0; i + 1 < shape.size(); ++i) rows *= shape[i];
  const std::size_t row_bytes =
      rows == 0 ? 0 : tensor->data.size() / static_cast<std::size_t>(rows);
  return tensor->data.subspan(static_cast<std::size_t>(first) * row_bytes,
                              static_cast<std::size_t>(count) * row_bytes);
}

void read_rows(const MatrixPlan& plan, std::int64_t first, std::int64_t count, float* out) {
  const auto cols = static_cast<std::size_t>(plan.cols);
  std::int64_t begin = 0;  // of the part, in the whole matrix
  for (const TensorRows& part : plan.parts) {
    const std::int64_t from = std::max(first, begin) - begin;
    const std::int64_t to = std::min(first + count, begin + part.count) - begin;
    begin += part.count;
    if (from >= to) continue;
    // Interleaved rows are scattered; others lie together.
    const std::int64_t step = part.head_dim > 0 ? 1 : to - from;
    for (std::int64_t row = from; row < to; row += step) {
      const std::size_t size = static_cast<std::size_t>(step) * cols;
      dequantize_rows(*part.tensor, part.file_row(row), step, {out, size});
      out += size;
    }
  }
}

std::vector<float> read_vector(const TensorInfo& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.shape[0]));
  dequantize_rows(tensor, 0, 1, values);
  return values;
}

std::vector<float> read_biases(const MatrixPlan& plan) {
  std::vector<float> values;
  for (const TensorRows& part : plan.biases) {
    const std::vector<float> file = read_vector(*part.tensor);
    for (std::int64_t row = 0; row < part.count; ++row) {
      values.push_back(file[static_cast<std::size_t>(part.file_row(row))]);
    }
  }
  return values;
}

WeightsPlan plan_weights(const Checkpoint& checkpoint, const ModelConfig& config) {
  return Planner(checkpoint, config).plan();
}

}  // namespace quire
