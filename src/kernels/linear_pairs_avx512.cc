// SPDX-License-Identifier: Apache-2.0
// Each header builds on those before it.
// clang-format off
#include "kernels/simd_avx512.h"
#include "kernels/simd.h"
#include "kernels/linear_impl.h"
#include "kernels/pairs_avx512.h"
#include "kernels/linear_pairs.h"
// clang-format on

namespace quire {

const LinearPairKernels kLinearPairsAvx512 = kLinearPairs;

}  // namespace quire
