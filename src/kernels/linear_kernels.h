// SPDX-License-Identifier: Apache-2.0
// The part of linear() that is compiled for each instruction set (linear_impl.h).
#pragma once

#include <quire/cpu.h>

#include <cstddef>
#include <cstdint>

namespace quire {

// One call of linear(); see there. `panels` as in packed_matrix.h. For LinearKernels::bf16 with
// round_to_pairs, x holds pairs, and k and ldx count them.
struct LinearCall {
  const std::byte* panels;
  std::size_t panel_bytes;
  std::int64_t n, k;
  const float* x;
  std::int64_t ldx;
  const float* bias;
  float* y;
  std::int64_t ldy;
};

// Outputs of panels [panel_first, panel_last) for rows [row_first, row_last).
using LinearBlock = void (*)(const LinearCall& call, std::int64_t row_first, std::int64_t row_last,
                             std::int64_t panel_first, std::int64_t panel_last);

struct LinearKernels {
  LinearBlock f32, bf16, f16;
  std::int64_t stream_panels;  // panels that are read side by side when there is one row
  // Rounds k inputs to bf16, to nearest even, and writes them as (k + 1) / 2 pairs of which each
  // fills a float, the even input in its lower half; the last is filled up with a zero. Null: bf16
  // reads x as it is.
  void (*round_to_pairs)(const float* x, std::int64_t k, float* pairs);
};

// What takes the place of a table's bf16 and round_to_pairs where the processor has AVX512_BF16.
struct LinearPairKernels {
  LinearBlock bf16;
  void (*round_to_pairs)(const float* x, std::int64_t k, float* pairs);
};

extern const LinearKernels kLinearPortable;
extern const LinearKernels kLinearAvx2;
extern const LinearKernels kLinearAvx512;
extern const LinearPairKernels kLinearPairsAvx512;

const LinearKernels& linear_kernels(Isa isa);

}  // namespace quire
