// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_products_impl.h"

namespace quire {

const ByteProductsKernels kByteProductsAvx512 = kByteProducts;

}  // namespace quire
