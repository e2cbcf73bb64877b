// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/cpu.h>

#include "kernels/attention.h"

namespace quire {

// What attention needs of an instruction set. One source, attention_impl.h, is compiled for each;
// a table of its functions is chosen at run time.

// Softmax state of some query rows: p = exp(score - max), sum = Σ p, values = Σ p v, unnormalised.
struct AttentionState {
  float* max;     // [rows]
  float* sum;     // [rows]; 0: nothing seen
  float* values;  // [rows, padded head_dim]
};

// Some queries of one kv head, as rows (token, head of the group), with room to work in.
struct AttentionTile {
  const KvAttention* attention;
  std::int64_t kv_head;
  std::int64_t first_token;
  std::int64_t tokens;
  float* q;         // [rows, D], scaled
  float* scores;    // [rows, kScoreStride]
  float* folded;    // [rows, max(D, P)]: times the scales of a coded page
  float* scales;    // [2, max(padded D, padded P)]
  float* expanded;  // [max(D, P), max(P, padded D)]

  std::int64_t group() const { return attention->heads / attention->shape.kv_heads; }
  std::int64_t rows() const { return tokens * group(); }
};

// Rows of scores are a little apart from a power of two, so that they do not share cache sets.
inline constexpr std::int64_t kScoreStride = kAttentionChunk + 16;

// Coded and accumulated rows are whole units of columns.
inline constexpr std::int64_t kUnit = 32;
inline constexpr std::int64_t padded(std::int64_t columns) {
  return (columns + kUnit - 1) / kUnit * kUnit;
}

// Where the parts of one kv head lie in a coded page of a layer, in bytes from its start.
struct CodeLayout {
  std::int64_t key_scales;
  std::int64_t key_zeros;
  std::int64_t values;
  std::int64_t value_scales;
  std::int64_t value_zeros;
  std::int64_t bytes;
  std::int64_t value_groups;
};
inline constexpr CodeLayout code_layout(const KvShape& shape, std::int64_t bits) {
  const std::int64_t d = shape.head_dim;
  const std::int64_t p = shape.page_tokens;
  CodeLayout layout{};
  layout.value_groups = (padded(d) + p - 1) / p;
  layout.key_scales = d * p * bits / 8;
  layout.key_zeros = layout.key_scales + 2 * d;
  layout.values = layout.key_zeros + 2 * d;
  layout.value_scales = layout.values + p * padded(d) * bits / 8;
  layout.value_zeros = layout.value_scales + 2 * layout.value_groups * p;
  layout.bytes = layout.value_zeros + 2 * layout.value_groups * p;
  return layout;
}

struct AttentionKernels {
  void (*gather_queries)(const AttentionTile& tile);
  // The state of one chunk alone. Rows that see none of it get sum 0.
  void (*attend_chunk)(const AttentionTile& tile, std::int64_t chunk, const AttentionState& state);
  // Adds what a later chunk found. REQUIRES: states merged in ascending order of chunks.
  void (*merge)(std::int64_t rows, std::int64_t head_dim, const AttentionState& later,
                const AttentionState& into);
  void (*write_output)(const AttentionTile& tile, const AttentionState& state);
};

extern const AttentionKernels kAttentionPortable;
extern const AttentionKernels kAttentionAvx2;
extern const AttentionKernels kAttentionAvx512;

const AttentionKernels& attention_kernels(Isa isa);

}  // namespace quire
