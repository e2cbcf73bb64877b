// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <string>

namespace quire {

namespace {

// A running hash of encoded tensors, each with its name and sizes.
class Fingerprint {
 public:
  void add(const TensorInfo& tensor) {
    const std::string head = tensor.name + "/" + std::string(to_string(tensor.type)) + "/" +
                             std::to_string(tensor.data.size()) + "/";
    XXH3_128bits_update(state_.get(), head.data(), head.size());
    XXH3_128bits_update(state_.get(), tensor.data.data(), tensor.data.size());
  }

  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text;
  }

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  static XXH3_state_t* make() {
    XXH3_state_t* state = XXH3_createState();
    if (state == nullptr) throw std::bad_alloc();
    XXH3_128bits_reset(state);
    return state;
  }
  std::unique_ptr<XXH3_state_t, Free> state_{make()};
};

class Loader {
 public:
  Loader(const WeightsPlan& plan, const ModelConfig& config, const Ops& ops, DType dtype,
         ThreadPool* pool, const std::function<void(double)>& progress)
      : plan_(plan), config_(config), ops_(ops), dtype_(dtype), pool_(pool), progress_(progress) {}

  Weights load() {
    Weights weights;
    weights.embedding = matrix(plan_.embedding);
    for (const LayerPlan& layer : plan_.layers) weights.layers.push_back(load_layer(layer));
    weights.final_norm = norm(plan_.final_norm);
    weights.own_head = matrix(plan_.head);
    weights.fingerprint = fingerprint_.text();
    if (progress_) progress_(1);
    return weights;
  }

 private:
  LayerWeights load_layer(const LayerPlan& plan) {
    LayerWeights layer;
    layer.attention_norm = norm(plan.attention_norm);
    layer.qkv = matrix(plan.qkv);
    layer.q_norm = norm(plan.q_norm);
    layer.k_norm = norm(plan.k_norm);
    layer.out = matrix(plan.out);
    layer.attention_after_norm = norm(plan.attention_after_norm);
    layer.mlp_norm = norm(plan.mlp_norm);
    layer.gate_up = matrix(plan.gate_up);
    layer.down = matrix(plan.down);
    layer.router = matrix(plan.router);
    for (const ExpertPlan& expert : plan.experts) {
      layer.experts.push_back({matrix(expert.gate_up), matrix(expert.down)});
    }
    layer.mlp_after_norm = norm(plan.mlp_after_norm);
    return layer;
  }

  MatrixPtr matrix(const MatrixPlan& plan) {
    if (plan.parts.empty()) return nullptr;
    for (const TensorRows& part : plan.parts) fingerprint_.add(*part.tensor);
    for (const TensorRows& bias : plan.biases) fingerprint_.add(*bias.tensor);
    const RowSource source = [&plan](std::int64_t first, std::int64_t count, float* out) {
      read_rows(plan, first, count, out);
    };
    MatrixPtr result = ops_.matrix(plan.rows, plan.cols, dtype_, source, read_biases(plan), pool_);
    done_ += plan.rows * plan.cols;
    if (progress_) {
      progress_(static_cast<double>(done_) /
                static_cast<double>(std::max(plan_.parameters, done_)));
    }
    return result;
  }

  at::Tensor norm(const TensorInfo* tensor) {
    if (tensor == nullptr) return {};
    fingerprint_.add(*tensor);
    std::vector<float> values = read_vector(*tensor);
    if (config_.norm_plus_one) {
      for (float& value : values) value += 1;
    }
    return ops_.vector(values);
  }

  const WeightsPlan& plan_;
  const ModelConfig& config_;
  const Ops& ops_;
  DType dtype_;
  ThreadPool* pool_;
  const std::function<void(double)>& progress_;
  Fingerprint fingerprint_;
  std::int64_t done_ = 0;
};

bool is_wide(const MatrixPlan& plan) {
  return std::all_of(plan.parts.begin(), plan.parts.end(), [](const TensorRows& part) {
    return part.tensor->type == BlockType::kF32 || part.tensor->type == BlockType::kF64;
  });
}

bool is_wide(const LayerPlan& layer) {
  return is_wide(layer.qkv) && is_wide(layer.out) && is_wide(layer.gate_up) &&
         is_wide(layer.down) && is_wide(layer.router) &&
         std::all_of(layer.experts.begin(), layer.experts.end(), [](const ExpertPlan& expert) {
           return is_wide(expert.gate_up) && is_wide(expert.down);
         });
}

}  // namespace

DType resolve_dtype(DType asked, const WeightsPlan& plan) {
  if (asked != DType::kAuto) return asked;
  const bool wide = is_wide(plan.embedding) && is_wide(plan.head) &&
                    std::all_of(plan.layers.begin(), plan.layers.end(),
                                [](const LayerPlan& layer) { return is_wide(layer); });
  return wide ? DType::kF32 : DType::kBF16;
}

Weights load_weights(const WeightsPlan& plan, const ModelConfig& config, const Ops& ops,
                     DType dtype, ThreadPool* pool, const std::function<void(double)>& progress) {
  return Loader(plan, config, ops, dtype, pool, progress).load();
}

}  // namespace quire
