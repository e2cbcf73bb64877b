// SPDX-License-Identifier: Apache-2.0
// Processors without kernels of their own: the portable version is the only one.
#include <quire/cpu.h>

#include "kernels/attention_kernels.h"
#include "kernels/byte_products_kernels.h"
#include "kernels/elementwise_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/quantised_kernels.h"

namespace quire {

Isa detected_isa() noexcept { return Isa::kPortable; }

const AttentionKernels& attention_kernels(Isa) { return kAttentionPortable; }

const LinearKernels& linear_kernels(Isa) { return kLinearPortable; }

const QuantisedKernels& quantised_kernels(Isa) { return kQuantisedPortable; }

const ElementwiseKernels& elementwise_kernels(Isa) { return kElementwisePortable; }

const ByteProductsKernels& byte_products_kernels(Isa) { return kByteProductsPortable; }

}  // namespace quire
