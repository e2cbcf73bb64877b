// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_products_impl.h"

namespace quire {

const ByteProductsKernels kByteProductsPortable = kByteProducts;

}  // namespace quire
