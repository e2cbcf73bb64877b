// SPDX-License-Identifier: Apache-2.0
// A text encoder (encoder_config.h) on plain float32 activations, over src/kernels. Texts are
// computed as one ragged batch, without padding: linear layers once over all tokens, attention
// within each text. A text's result has the same bits in any batch and with any number of threads.
//
// Thread-safety: immutable after construction.
#pragma once

#include <quire/dtype.h>
#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kernels/packed_matrix.h"
#include "kernels/thread_pool.h"
#include "model/encoder_files.h"

namespace quire {

class Encoder {
 public:
  // Reads the weights, which `files` borrows only until then. Throws std::bad_alloc.
  Encoder(const EncoderFiles& files, DType dtype, ThreadPool* pool);

  const EncoderConfig& config() const { return config_; }

  // Throws Error kInvalidArgument for a text without tokens or an id outside the vocabulary,
  // kContextOverflow for more tokens than there are positions.
  void check(std::span<const TokenId> text) const;

  // The last layer's states, [ids][hidden]. Text i is ids[ends[i - 1], ends[i]), from 0.
  // REQUIRES: each text passes check(). Throws std::bad_alloc.
  std::vector<float> forward(std::span<const TokenId> ids, std::span<const std::int64_t> ends,
                             ThreadPool* pool) const;

 private:
  struct Linear {
    PackedMatrix weight;
    std::vector<float> bias;
  };
  struct Norm {
    std::vector<float> weight;
    std::vector<float> bias;
  };
  struct Layer {
    Linear qkv, out;
    Norm attention_norm;
    Linear up, down;
    Norm output_norm;
  };
  struct Pass;

  Linear load(const MatrixPlan& plan, DType dtype, ThreadPool* pool) const;
  void load_tables(const EncoderPlan& plan);
  void embed(std::span<const TokenId> ids, std::span<const std::int64_t> ends, float* x) const;
  void run_layer(const Layer& layer, Pass& pass) const;
  void normalize(const Norm& norm, Pass& pass) const;

  EncoderConfig config_;
  std::vector<std::byte> word_bytes_;  // as in the file: rows are decoded when asked for
  TensorInfo words_;
  std::vector<float> positions_;      // [positions][hidden], the first token type added
  std::vector<float> relative_bias_;  // [heads][2 * context - 1] by distance; empty: none
  Norm embedding_norm_;
  std::vector<Layer> layers_;
};

}  // namespace quire
