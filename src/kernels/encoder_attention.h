// SPDX-License-Identifier: Apache-2.0
// Attention of an encoder: every token of a text sees all tokens of that text.
//
// Per head, softmax(scale * q k + bias) v in float32. A score is one chain of multiply-adds over
// the dimensions, an output one over the tokens, in ascending order (linear.h): a text's result has
// the same bits whatever texts are computed beside it and by how many threads.
//
// Thread-safety: concurrent calls are independent; callers that share a pool take turns.
#pragma once

#include <cstdint>
#include <span>

#include "kernels/thread_pool.h"

namespace quire::kernels {

struct EncoderAttention {
  std::span<const std::int64_t> ends;  // text i is rows [ends[i - 1], ends[i]), from 0; ascending
  std::int64_t heads;
  std::int64_t head_dim;
  const float* qkv;  // a row is [3][heads][head_dim]: queries, keys, values
  std::int64_t qkv_stride;
  float scale;
  // Added to the score of query i for key j of head h: bias[h * bias_stride + j - i], so it points
  // at a head's middle. Null: none.
  const float* bias;
  std::int64_t bias_stride;
  float* out;  // a row is [heads][head_dim]; must not overlap qkv
  std::int64_t out_stride;
};

// Throws std::bad_alloc.
void attend_to_all(const EncoderAttention& attention, ThreadPool* pool);

}  // namespace quire::kernels
