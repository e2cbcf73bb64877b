// SPDX-License-Identifier: Apache-2.0
// Each header builds on those before it.
// clang-format off
#include "kernels/simd_avx512.h"
#include "kernels/simd.h"
#include "kernels/dot_avx512.h"
#include "kernels/quantised_impl.h"
// clang-format on

namespace quire {

const QuantisedKernels kQuantisedAvx512 = kQuantised;

}  // namespace quire
