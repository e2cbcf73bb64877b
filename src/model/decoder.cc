// SPDX-License-Identifier: Apache-2.0
#include "model/decoder.h"

#include <quire/error.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "kernels/elementwise.h"
#include "model/moe.h"

namespace quire {

namespace {

std::int64_t tokens_of(const Sequence& sequence) {
  return static_cast<std::int64_t>(sequence.tokens.size());
}

std::int64_t tokens_of(std::span<const Sequence> batch) {
  std::int64_t count = 0;
  for (const Sequence& sequence : batch) count += tokens_of(sequence);
  return count;
}

// All caches of a batch take part in a pass, or none does.
class CachePass {
 public:
  explicit CachePass(std::span<const Sequence> batch) : batch_(batch) {
    try {
      for (const Sequence& sequence : batch) {
        sequence.cache.prepare(tokens_of(sequence));
        ++prepared_;
      }
    } catch (...) {
      rollback();
      throw;
    }
  }
  CachePass(const CachePass&) = delete;
  CachePass& operator=(const CachePass&) = delete;
  ~CachePass() { rollback(); }

  void commit() {
    for (const Sequence& sequence : batch_) sequence.cache.commit();
    prepared_ = 0;
  }

 private:
  void rollback() {
    for (; prepared_ > 0; --prepared_) batch_[prepared_ - 1].cache.rollback();
  }

  std::span<const Sequence> batch_;
  std::size_t prepared_ = 0;
};

void check_finite(const at::Tensor& logits, std::span<const Sequence> batch) {
  const float* row = logits.const_data_ptr<float>();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    for (std::int64_t back = batch[i].logits; back > 0; --back, row += logits.size(1)) {
      const Largest found = kernels::largest(row, logits.size(1));
      if (!found.above && !found.below) continue;
      const std::int64_t token = tokens_of(batch[i]) - back;
      throw Error(ErrorCode::kBadNumber, "logits",
                  "expected numbers, found NaN or infinity after token " + std::to_string(token) +
                      " of sequence " + std::to_string(i));
    }
  }
}

}  // namespace

// Row i: the position of the batch's token i. Undefined tensors: no layer uses this rope.
struct Decoder::RopeTable {
  at::Tensor cos;
  at::Tensor sin;
};

struct Decoder::Workspace {
  at::Tensor hidden;  // the residual stream
  at::Tensor normed;  // a block's input
  at::Tensor qkv;
  at::Tensor q, k, v;  // columns of qkv
  at::Tensor attended;
  at::Tensor delta;  // a block's output
  at::Tensor gate_up;
  at::Tensor gated;  // the left half of gate_up
  RopeTable rope;
  RopeTable rope_sliding;

  // A sequence's rows of the above, as heads.
  struct Heads {
    at::Tensor q, k, v, out;
  };
  std::vector<Heads> heads;
};

Decoder::Decoder(const ModelConfig& config, const Weights& weights, const Ops& ops)
    : config_(config), weights_(weights), ops_(ops), rope_(config.rope) {
  if (config.has_sliding_rope) rope_sliding_.emplace(config.rope_sliding);
}

void Decoder::check(std::span<const Sequence> batch) const {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const Sequence& sequence = batch[i];
    const std::int64_t count = tokens_of(sequence);
    const std::string subject = "sequence " + std::to_string(i);
    if (count == 0) throw Error(ErrorCode::kInvalidArgument, subject, "it has no tokens");
    for (const TokenId id : sequence.tokens) {
      if (id < 0 || id >= config_.vocab_size) {
        throw Error(ErrorCode::kInvalidArgument, subject,
                    "expected token ids below " + std::to_string(config_.vocab_size) + ", found " +
                        std::to_string(id));
      }
    }
    if (sequence.logits < 0 || sequence.logits > count) {
      throw Error(ErrorCode::kInvalidArgument, subject,
                  "expected logits for 0 to " + std::to_string(count) + " tokens, found " +
                      std::to_string(sequence.logits));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (&batch[j].cache == &sequence.cache) {
        throw Error(ErrorCode::kInvalidArgument, subject,
                    "its cache is also that of sequence " + std::to_string(j));
      }
    }
    const std::int64_t length = sequence.cache.length();
    if (count > config_.context - length) {
      throw Error(ErrorCode::kContextOverflow, subject,
                  "the model's context is " + std::to_string(config_.context) + " tokens; " +
                      std::to_string(length) + " and " + std::to_string(count) + " more exceed it");
    }
  }
}

Decoder::RopeTable Decoder::make_table(const Rope& rope, std::span<const Sequence> batch) const {
  const std::int64_t half = rope.dims() / 2;
  const auto size = static_cast<std::size_t>(tokens_of(batch) * half);
  std::vector<float> cos(size);
  std::vector<float> sin(size);
  std::int64_t at = 0;
  for (const Sequence& sequence : batch) {
    const std::int64_t first = sequence.cache.length();
    const std::int64_t count = tokens_of(sequence);
    rope.fill(first, count, std::max(first + count, sequence.rope_length), cos.data() + at,
              sin.data() + at);
    at += count * half;
  }
  return {ops_.table(cos, half), ops_.table(sin, half)};
}

Decoder::Workspace Decoder::make_workspace(std::span<const Sequence> batch) const {
  const std::int64_t tokens = tokens_of(batch);
  const std::int64_t q = config_.heads * config_.head_dim;
  const std::int64_t kv = config_.kv_heads * config_.head_dim;
  Workspace work;
  work.hidden = ops_.buffer(tokens, config_.hidden);
  work.normed = config_.norm_before ? ops_.buffer(tokens, config_.hidden) : work.hidden;
  work.qkv = ops_.buffer(tokens, q + 2 * kv);
  work.q = work.qkv.narrow(1, 0, q);
  work.k = work.qkv.narrow(1, q, kv);
  work.v = work.qkv.narrow(1, q + kv, kv);
  work.attended = ops_.buffer(tokens, q);
  work.delta = ops_.buffer(tokens, config_.hidden);
  work.gate_up = ops_.buffer(tokens, 2 * config_.intermediate);
  work.gated = work.gate_up.narrow(1, 0, config_.intermediate);
  work.rope = make_table(rope_, batch);
  if (rope_sliding_) work.rope_sliding = make_table(*rope_sliding_, batch);
  std::int64_t first = 0;
  for (const Sequence& sequence : batch) {
    const std::int64_t count = tokens_of(sequence);
    const auto heads_of = [&](const at::Tensor& rows) {
      return rows.narrow(0, first, count).unflatten(1, {-1, config_.head_dim});
    };
    work.heads.push_back(
        {heads_of(work.q), heads_of(work.k), heads_of(work.v), heads_of(work.attended)});
    first += count;
  }
  return work;
}

void Decoder::attention(std::int64_t index, std::span<const Sequence> batch, Workspace& work,
                        ThreadPool* pool) const {
  const auto at = static_cast<std::size_t>(index);
  const LayerWeights& layer = weights_.layers[at];
  const auto eps = static_cast<float>(config_.norm_eps);
  if (layer.attention_norm.defined()) {
    ops_.rms_norm(work.hidden, layer.attention_norm, eps, work.normed, pool);
  }
  ops_.linear(*layer.qkv, work.normed, work.qkv, pool);
  if (config_.qk_norm) {
    ops_.head_norm(work.q, layer.q_norm, eps, pool);
    ops_.head_norm(work.k, layer.k_norm, eps, pool);
  } else if (config_.qk_norm_full) {
    ops_.rms_norm(work.q, layer.q_norm, eps, work.q, pool);
    ops_.rms_norm(work.k, layer.k_norm, eps, work.k, pool);
  }
  if (config_.layer_has_rope[at]) {
    const bool sliding = rope_sliding_ && config_.windows[at] > 0;
    const RopeTable& table = sliding ? work.rope_sliding : work.rope;
    ops_.rotate(work.q, config_.head_dim, table.cos, table.sin, pool);
    ops_.rotate(work.k, config_.head_dim, table.cos, table.sin, pool);
  }
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Workspace::Heads& heads = work.heads[i];
    batch[i].cache.attend({.layer = index,
                           .q = heads.q,
                           .k = heads.k,
                           .v = heads.v,
                           .out = heads.out,
                           .scale = static_cast<float>(config_.attention_scale),
                           .softcap = static_cast<float>(config_.attention_softcap),
                           .threads = pool});
  }
  ops_.linear(*layer.out, work.attended, work.delta, pool);
  add_block(layer.attention_after_norm, work, pool);
}

void Decoder::mlp(const LayerWeights& layer, Workspace& work, ThreadPool* pool) const {
  if (layer.mlp_norm.defined()) {
    ops_.rms_norm(work.hidden, layer.mlp_norm, static_cast<float>(config_.norm_eps), work.normed,
                  pool);
  }
  if (layer.router) {
    mixture(ops_, config_, layer, work.normed, work.delta, pool);
  } else {
    ops_.linear(*layer.gate_up, work.normed, work.gate_up, pool);
    ops_.gated(config_.activation, work.gate_up, work.gated, pool);
    ops_.linear(*layer.down, work.gated, work.delta, pool);
  }
  add_block(layer.mlp_after_norm, work, pool);
}

void Decoder::add_block(const at::Tensor& after_norm, Workspace& work, ThreadPool* pool) const {
  if (after_norm.defined()) {
    ops_.rms_norm(work.delta, after_norm, static_cast<float>(config_.norm_eps), work.delta, pool);
  }
  ops_.add(work.delta, static_cast<float>(config_.residual_scale), work.hidden, pool);
}

at::Tensor Decoder::logits(std::span<const Sequence> batch, Workspace& work,
                           ThreadPool* pool) const {
  std::vector<std::int64_t> rows;
  std::int64_t end = 0;
  for (const Sequence& sequence : batch) {
    end += tokens_of(sequence);
    for (std::int64_t back = sequence.logits; back > 0; --back) rows.push_back(end - back);
  }
  const auto count = static_cast<std::int64_t>(rows.size());
  at::Tensor hidden = ops_.buffer(count, config_.hidden);
  at::Tensor result = ops_.buffer(count, config_.vocab_size);
  if (count > 0) {
    ops_.gather(work.hidden, rows, hidden);
    ops_.rms_norm(hidden, weights_.final_norm, static_cast<float>(config_.norm_eps), hidden, pool);
    ops_.linear(weights_.head(), hidden, result, pool);
  }
  result = ops_.finish_logits(std::move(result), static_cast<float>(config_.logits_scale),
                              static_cast<float>(config_.logits_softcap), pool);
  check_finite(result, batch);
  return result;
}

at::Tensor Decoder::forward(std::span<const Sequence> batch, ThreadPool* pool) const {
  check(batch);
  Workspace work = make_workspace(batch);
  CachePass pass(batch);
  std::vector<TokenId> ids;
  for (const Sequence& sequence : batch) {
    ids.insert(ids.end(), sequence.tokens.begin(), sequence.tokens.end());
  }
  ops_.embed(*weights_.embedding, ids, static_cast<float>(config_.embedding_scale), work.hidden);
  for (std::int64_t i = 0; i < config_.layers; ++i) {
    attention(i, batch, work, pool);
    mlp(weights_.layers[static_cast<std::size_t>(i)], work, pool);
  }
  at::Tensor result = logits(batch, work, pool);
  pass.commit();
  return result;
}

}  // namespace quire
