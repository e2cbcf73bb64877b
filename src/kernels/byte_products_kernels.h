// SPDX-License-Identifier: Apache-2.0
// The part of byte_products.h that is compiled for each instruction set (byte_products_impl.h).
#pragma once

#include <quire/cpu.h>

#include <cstdint>

namespace quire {

struct ByteProductsKernels {
  void (*multiply)(const std::int8_t* rows, std::int64_t count, std::int64_t width,
                   const std::int16_t* x, std::int32_t* products);
};

extern const ByteProductsKernels kByteProductsPortable;
extern const ByteProductsKernels kByteProductsAvx2;
extern const ByteProductsKernels kByteProductsAvx512;

const ByteProductsKernels& byte_products_kernels(Isa isa);

}  // namespace quire
