// SPDX-License-Identifier: Apache-2.0
// Included by byte_products_<isa>.cc. Compilers vectorise this loop well, for which x has 16 bits.
#pragma once

#include <cstdint>

#include "kernels/byte_products_kernels.h"

namespace quire {
namespace {

void multiply(const std::int8_t* rows, std::int64_t count, std::int64_t width,
              const std::int16_t* x, std::int32_t* products) {
  for (std::int64_t r = 0; r < count; ++r) {
    const std::int8_t* row = rows + r * width;
    std::int32_t sum = 0;
    for (std::int64_t i = 0; i < width; ++i) sum += std::int32_t{row[i]} * std::int32_t{x[i]};
    products[r] = sum;
  }
}

constexpr ByteProductsKernels kByteProducts{multiply};

}  // namespace
}  // namespace quire
