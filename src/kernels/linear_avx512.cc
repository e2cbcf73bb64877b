// SPDX-License-Identifier: Apache-2.0
// clang-format off: each header builds on those before it.
#include "kernels/linear_impl.h"
#include "kernels/simd.h"
#include "kernels/simd_avx512.h"
// clang-format on

namespace quire {

const LinearKernels kLinearAvx512 = kLinear;

}  // namespace quire
