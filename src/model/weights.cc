// SPDX-License-Identifier: Apache-2.0
#include "model/weights.h"

#include <xxhash.h>

#include <algorithm>
#include <cstdio>
#include <span>
#include <string>

#include "formats/block_codes.h"
#include "io/mapped_file.h"

namespace quire {

namespace {

// A running hash of encoded tensors, each with its name and sizes.
class Fingerprint {
 public:
  void add(const TensorInfo& tensor) { add(tensor, tensor.data); }

  // These rows only: all experts of a layer may lie in one tensor.
  void add(const TensorRows& rows) { add(*rows.tensor, rows.encoded()); }

  std::string text() const {
    const XXH128_hash_t hash = XXH3_128bits_digest(state_.get());
    char text[33];
    std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high64),
                  static_cast<unsigned long long>(hash.low64));
    return text;
  }

 private:
  void add(const TensorInfo& tensor, std::span<const std::byte> bytes) {
    const std::string head = tensor.name + "/" + std::string(to_string(tensor.type)) + "/" +
                             std::to_string(bytes.size()) + "/";
    XXH3_128bits_update(state_.get(), head.data(), head.size());
    XXH3_128bits_update(state_.get(), bytes.data(), bytes.size());
  }

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
    for (const TensorRows& part : plan.parts) fingerprint_.add(part);
    for (const TensorRows& bias : plan.biases) fingerprint_.add(*bias.tensor);
    MatrixPtr result = ops_.matrix(plan, dtype_, pool_, &arena_);
    for (const TensorRows& part : plan.parts) drop_pages(part.encoded());  // not needed any more
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
  WeightArena arena_;
  std::int64_t done_ = 0;
};

using TypeTest = bool (*)(BlockType);

bool is_wide(BlockType type) { return type == BlockType::kF32 || type == BlockType::kF64; }

bool any_matrix(const MatrixPlan& plan, TypeTest test) {
  return std::any_of(plan.parts.begin(), plan.parts.end(),
                     [test](const TensorRows& part) { return test(part.tensor->type); });
}

bool any_matrix(const LayerPlan& layer, TypeTest test) {
  return any_matrix(layer.qkv, test) || any_matrix(layer.out, test) ||
         any_matrix(layer.gate_up, test) || any_matrix(layer.down, test) ||
         any_matrix(layer.router, test) ||
         std::any_of(layer.experts.begin(), layer.experts.end(), [test](const ExpertPlan& expert) {
           return any_matrix(expert.gate_up, test) || any_matrix(expert.down, test);
         });
}

bool any_matrix(const WeightsPlan& plan, TypeTest test) {
  return any_matrix(plan.embedding, test) || any_matrix(plan.head, test) ||
         std::any_of(plan.layers.begin(), plan.layers.end(),
                     [test](const LayerPlan& layer) { return any_matrix(layer, test); });
}

}  // namespace

DType number_dtype(DType asked, const WeightsPlan& plan) {
  if (asked != DType::kAuto) return asked;
  const bool narrow = any_matrix(plan, [](BlockType type) { return !is_wide(type); });
  return narrow ? DType::kBF16 : DType::kF32;
}

DType resolve_dtype(DType asked, const WeightsPlan& plan, Device device) {
  const bool native = device == Device::kCpu && any_matrix(plan, is_quantised);
  return asked == DType::kAuto && native ? DType::kNative : number_dtype(asked, plan);
}

Weights load_weights(const WeightsPlan& plan, const ModelConfig& config, const Ops& ops,
                     DType dtype, ThreadPool* pool, const std::function<void(double)>& progress) {
  return Loader(plan, config, ops, dtype, pool, progress).load();
}

}  // namespace quire
