// SPDX-License-Identifier: Apache-2.0
#include "model/encoder_plan.h"

#include <quire/error.h>

#include <string>
#include <string_view>

namespace quire {

namespace {

// Without ".weight" or ".bias"; those of a layer follow its number.
struct Names {
  std::string_view prefix;
  std::string_view layer;
  std::string_view q, k, v, out, attention_norm, up, down, output_norm;
};

constexpr Names kBert = {"bert.",
                         "encoder.layer.",
                         "attention.self.query",
                         "attention.self.key",
                         "attention.self.value",
                         "attention.output.dense",
                         "attention.output.LayerNorm",
                         "intermediate.dense",
                         "output.dense",
                         "output.LayerNorm"};
constexpr Names kDistilBert = {"distilbert.",      "transformer.layer.", "attention.q_lin",
                               "attention.k_lin",  "attention.v_lin",    "attention.out_lin",
                               "sa_layer_norm",    "ffn.lin1",           "ffn.lin2",
                               "output_layer_norm"};
constexpr Names kMpnet = {
    "mpnet.",           "encoder.layer.",   "attention.attn.q",    "attention.attn.k",
    "attention.attn.v", "attention.attn.o", "attention.LayerNorm", "intermediate.dense",
    "output.dense",     "output.LayerNorm"};

Names names_of(EncoderFamily family) {
  switch (family) {
    case EncoderFamily::kDistilBert:
      return kDistilBert;
    case EncoderFamily::kMpnet:
      return kMpnet;
    case EncoderFamily::kRoberta: {
      Names names = kBert;
      names.prefix = "roberta.";
      return names;
    }
    case EncoderFamily::kBert:
      break;
  }
  return kBert;
}

class Planner {
 public:
  Planner(const Checkpoint& checkpoint, const EncoderConfig& config)
      : checkpoint_(checkpoint), config_(config), names_(names_of(config.family)) {
    const std::string with_prefix = std::string(names_.prefix) + kWords;
    if (checkpoint.find(kWords) == nullptr && checkpoint.find(with_prefix) != nullptr) {
      prefix_ = names_.prefix;
    }
  }

  EncoderPlan plan() {
    const std::int64_t hidden = config_.hidden;
    EncoderPlan plan;
    plan.words = &tensor(prefix_ + kWords, {config_.vocab_size, hidden});
    plan.positions =
        &tensor(prefix_ + "embeddings.position_embeddings.weight", {config_.positions, hidden});
    if (config_.token_types > 0) {
      plan.types = &tensor(prefix_ + "embeddings.token_type_embeddings.weight",
                           {config_.token_types, hidden});
    }
    if (config_.has_relative_bias()) {
      plan.relative_bias = &tensor(prefix_ + "encoder.relative_attention_bias.weight",
                                   {kRelativeBuckets, config_.heads});
    }
    plan.embedding_norm = norm(prefix_ + "embeddings.LayerNorm");
    for (std::int64_t i = 0; i < config_.layers; ++i) plan.layers.push_back(layer(i));
    plan.parameters = parameters_;
    return plan;
  }

 private:
  static constexpr const char* kWords = "embeddings.word_embeddings.weight";

  EncoderLayerPlan layer(std::int64_t i) {
    const std::string start = prefix_ + std::string(names_.layer) + std::to_string(i) + '.';
    const auto name = [&](std::string_view part) { return start + std::string(part); };
    const std::int64_t hidden = config_.hidden;
    const std::int64_t inner = config_.intermediate;
    EncoderLayerPlan plan;
    plan.qkv = matrix({name(names_.q), name(names_.k), name(names_.v)}, hidden, hidden);
    plan.out = matrix({name(names_.out)}, hidden, hidden);
    plan.attention_norm = norm(name(names_.attention_norm));
    plan.up = matrix({name(names_.up)}, inner, hidden);
    plan.down = matrix({name(names_.down)}, hidden, inner);
    plan.output_norm = norm(name(names_.output_norm));
    return plan;
  }

  // Linear layers of `rows` outputs each, stacked.
  MatrixPlan matrix(const std::vector<std::string>& names, std::int64_t rows, std::int64_t cols) {
    MatrixPlan plan;
    plan.cols = cols;
    for (const std::string& name : names) {
      plan.parts.push_back({.tensor = &tensor(name + ".weight", {rows, cols}), .count = rows});
      plan.biases.push_back({.tensor = &tensor(name + ".bias", {rows}), .count = rows});
      plan.rows += rows;
    }
    return plan;
  }

  // The oldest files spell a norm's parts as TensorFlow did.
  NormPlan norm(const std::string& name) {
    const bool old = checkpoint_.find(name + ".weight") == nullptr &&
                     checkpoint_.find(name + ".gamma") != nullptr;
    return {.weight = &tensor(name + (old ? ".gamma" : ".weight"), {config_.hidden}),
            .bias = &tensor(name + (old ? ".beta" : ".bias"), {config_.hidden})};
  }

  const TensorInfo& tensor(const std::string& name, const std::vector<std::int64_t>& shape) {
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

  static std::string to_text(const std::vector<std::int64_t>& shape) {
    std::string text = "[";
    for (const std::int64_t size : shape) {
      if (text.size() > 1) text += ", ";
      text += std::to_string(size);
    }
    return text + ']';
  }

  const Checkpoint& checkpoint_;
  const EncoderConfig& config_;
  Names names_;
  std::string prefix_;
  std::int64_t parameters_ = 0;
};

}  // namespace

EncoderPlan plan_encoder(const Checkpoint& checkpoint, const EncoderConfig& config) {
  return Planner(checkpoint, config).plan();
}

}  // namespace quire
