// SPDX-License-Identifier: Apache-2.0
// Each header builds on those before it.
// clang-format off
#include "kernels/simd_portable.h"
#include "kernels/simd.h"
#include "kernels/dot_portable.h"
#include "kernels/quantised_impl.h"
// clang-format on

namespace quire {

const QuantisedKernels kQuantisedPortable = kQuantised;

}  // namespace quire
