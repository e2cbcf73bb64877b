// SPDX-License-Identifier: Apache-2.0
#include "model/encoder.h"

#include <quire/error.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "kernels/elementwise.h"
#include "kernels/encoder_attention.h"
#include "kernels/linear.h"

namespace quire {

namespace {

// The bucket of a key `distance` tokens after the query, as T5 and MPNet have it: half for keys
// before, half for those after; distances exact at first, then in steps that grow to 128.
std::int64_t relative_bucket(std::int64_t distance) {
  constexpr std::int64_t kSide = kRelativeBuckets / 2;
  constexpr std::int64_t kExact = kSide / 2;
  constexpr float kFarthest = 128;
  const std::int64_t side = distance > 0 ? kSide : 0;
  const std::int64_t size = std::abs(distance);
  if (size < kExact) return side + size;
  const float share = std::log(static_cast<float>(size) / static_cast<float>(kExact)) /
                      std::log(kFarthest / static_cast<float>(kExact));
  const auto step = static_cast<std::int64_t>(share * static_cast<float>(kSide - kExact));
  return side + std::min(kExact + step, kSide - 1);
}

std::vector<float> read_table(const TensorInfo& tensor) {
  std::vector<float> values(static_cast<std::size_t>(tensor.shape[0] * tensor.shape[1]));
  dequantize_rows(tensor, 0, tensor.shape[0], values);
  return values;
}

}  // namespace

// The activations of one pass.
struct Encoder::Pass {
  std::span<const std::int64_t> ends;
  ThreadPool* pool;
  std::int64_t rows;
  float* x;  // [rows][hidden]
  std::unique_ptr<float[]> qkv;
  std::unique_ptr<float[]> mixed;  // attention's output
  std::unique_ptr<float[]> inner;
  std::unique_ptr<float[]> added;  // to x
};

Encoder::Encoder(const EncoderFiles& files, DType dtype, ThreadPool* pool) : config_(files.config) {
  const auto norm = [](const NormPlan& plan) {
    return Norm{read_vector(*plan.weight), read_vector(*plan.bias)};
  };
  load_tables(files.plan);
  embedding_norm_ = norm(files.plan.embedding_norm);
  for (const EncoderLayerPlan& plan : files.plan.layers) {
    layers_.push_back({.qkv = load(plan.qkv, dtype, pool),
                       .out = load(plan.out, dtype, pool),
                       .attention_norm = norm(plan.attention_norm),
                       .up = load(plan.up, dtype, pool),
                       .down = load(plan.down, dtype, pool),
                       .output_norm = norm(plan.output_norm)});
  }
}

Encoder::Linear Encoder::load(const MatrixPlan& plan, DType dtype, ThreadPool* pool) const {
  const RowSource source = [&plan](std::int64_t first, std::int64_t count, float* out) {
    read_rows(plan, first, count, out);
  };
  return {PackedMatrix(plan.rows, plan.cols, encoder_dtype(plan, dtype), source, pool),
          read_biases(plan)};
}

void Encoder::load_tables(const EncoderPlan& plan) {
  words_ = *plan.words;
  word_bytes_.assign(words_.data.begin(), words_.data.end());
  words_.data = word_bytes_;
  positions_ = read_table(*plan.positions);
  if (plan.types != nullptr) {
    std::vector<float> type(static_cast<std::size_t>(config_.hidden));
    dequantize_rows(*plan.types, 0, 1, type);
    for (std::size_t i = 0; i < positions_.size(); ++i) positions_[i] += type[i % type.size()];
  }
  if (plan.relative_bias == nullptr) return;
  const std::vector<float> buckets = read_table(*plan.relative_bias);  // [bucket][head]
  for (std::int64_t head = 0; head < config_.heads; ++head) {
    for (std::int64_t d = 1 - config_.context(); d < config_.context(); ++d) {
      relative_bias_.push_back(
          buckets[static_cast<std::size_t>(relative_bucket(d) * config_.heads + head)]);
    }
  }
}

void Encoder::check(std::span<const TokenId> text) const {
  if (text.empty()) {
    throw Error(ErrorCode::kInvalidArgument, "ids", "expected at least one token, found none");
  }
  const auto most = static_cast<std::size_t>(config_.context());
  if (text.size() > most) {
    throw Error(ErrorCode::kContextOverflow, "ids",
                "expected at most " + std::to_string(most) + " tokens, found " +
                    std::to_string(text.size()));
  }
  for (const TokenId id : text) {
    if (id >= 0 && id < config_.vocab_size) continue;
    throw Error(ErrorCode::kInvalidArgument, "ids",
                "expected ids from 0 to " + std::to_string(config_.vocab_size - 1) + ", found " +
                    std::to_string(id));
  }
}

void Encoder::embed(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                    float* x) const {
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  std::size_t row = 0;
  for (const std::int64_t end : ends) {
    std::int64_t next = config_.first_position;
    for (; row < static_cast<std::size_t>(end); ++row, x += hidden) {
      dequantize_rows(words_, ids[row], 1, {x, hidden});
      const bool padding = ids[row] == config_.padding;
      const std::int64_t position = padding ? config_.first_position - 1 : next++;
      const float* place = positions_.data() + static_cast<std::size_t>(position) * hidden;
      for (std::size_t i = 0; i < hidden; ++i) x[i] += place[i];
    }
  }
}

std::vector<float> Encoder::forward(std::span<const TokenId> ids,
                                    std::span<const std::int64_t> ends, ThreadPool* pool) const {
  const auto rows = ids.size();
  const auto hidden = static_cast<std::size_t>(config_.hidden);
  const auto buffer = [rows](std::size_t cols) {
    return std::make_unique_for_overwrite<float[]>(rows * cols);
  };
  std::vector<float> x(rows * hidden);
  Pass pass{.ends = ends,
            .pool = pool,
            .rows = static_cast<std::int64_t>(rows),
            .x = x.data(),
            .qkv = buffer(3 * hidden),
            .mixed = buffer(hidden),
            .inner = buffer(static_cast<std::size_t>(config_.intermediate)),
            .added = buffer(hidden)};
  embed(ids, ends, pass.x);
  kernels::layer_norm(pass.x, config_.hidden, embedding_norm_.weight.data(),
                      embedding_norm_.bias.data(), static_cast<float>(config_.norm_eps), pass.rows,
                      config_.hidden, pass.x, config_.hidden, pool);
  for (const Layer& layer : layers_) run_layer(layer, pass);
  return x;
}

void Encoder::run_layer(const Layer& layer, Pass& pass) const {
  const std::int64_t hidden = config_.hidden;
  const std::int64_t inner = config_.intermediate;
  const auto apply = [&pass](const Linear& w, const float* x, float* y) {
    kernels::linear(w.weight, x, pass.rows, w.weight.cols(), w.bias.data(), y, w.weight.rows(),
                    pass.pool);
  };
  apply(layer.qkv, pass.x, pass.qkv.get());
  const std::int64_t distances = 2 * config_.context() - 1;
  const float* middle =
      relative_bias_.empty() ? nullptr : relative_bias_.data() + config_.context() - 1;
  kernels::attend_to_all({.ends = pass.ends,
                          .heads = config_.heads,
                          .head_dim = config_.head_dim(),
                          .qkv = pass.qkv.get(),
                          .qkv_stride = 3 * hidden,
                          .scale = 1 / std::sqrt(static_cast<float>(config_.head_dim())),
                          .bias = middle,
                          .bias_stride = distances,
                          .out = pass.mixed.get(),
                          .out_stride = hidden},
                         pass.pool);
  apply(layer.out, pass.mixed.get(), pass.added.get());
  normalize(layer.attention_norm, pass);

  apply(layer.up, pass.x, pass.inner.get());
  float* x = pass.inner.get();
  switch (config_.activation) {
    case Activation::kSilu:
      kernels::silu(x, inner, pass.rows, inner, x, inner, pass.pool);
      break;
    case Activation::kGelu:
      kernels::gelu(x, inner, pass.rows, inner, x, inner, pass.pool);
      break;
    case Activation::kGeluTanh:
      kernels::gelu_tanh(x, inner, pass.rows, inner, x, inner, pass.pool);
      break;
  }
  apply(layer.down, x, pass.added.get());
  normalize(layer.output_norm, pass);
}

// x = norm(x + added)
void Encoder::normalize(const Norm& norm, Pass& pass) const {
  const std::int64_t hidden = config_.hidden;
  kernels::add(pass.added.get(), hidden, pass.rows, hidden, pass.x, hidden, pass.pool);
  kernels::layer_norm(pass.x, hidden, norm.weight.data(), norm.bias.data(),
                      static_cast<float>(config_.norm_eps), pass.rows, hidden, pass.x, hidden,
                      pass.pool);
}

}  // namespace quire
