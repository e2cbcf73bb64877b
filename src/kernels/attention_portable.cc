// SPDX-License-Identifier: Apache-2.0
// Each header builds on those before it.
// clang-format off
#include "kernels/simd_portable.h"
#include "kernels/simd.h"
#include "kernels/simd_math.h"
#include "kernels/attention_impl.h"
// clang-format on

namespace quire {

const AttentionKernels kAttentionPortable = kAttention;

}  // namespace quire
