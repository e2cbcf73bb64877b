// SPDX-License-Identifier: Apache-2.0
// Each header builds on those before it.
// clang-format off
#include "kernels/simd_avx512.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/attention_impl.h"
// clang-format on

namespace quire {

const AttentionKernels kAttentionAvx512 = kAttention;

}  // namespace quire
