// SPDX-License-Identifier: Apache-2.0
#include "kernels/byte_products.h"

#include "kernels/byte_products_kernels.h"

namespace quire::kernels {

void multiply_bytes(const std::int8_t* rows, std::int64_t count, std::int64_t width,
                    const std::int16_t* x, std::int32_t* products) {
  byte_products_kernels(active_isa()).multiply(rows, count, width, x, products);
}

}  // namespace quire::kernels
