// SPDX-License-Identifier: Apache-2.0
// Products of one row of codes with many: the first pass of a scan over coded vectors.
//
// Thread-safety: a function of its arguments.
#pragma once

#include <cstdint>

namespace quire::kernels {

// products[r] = Σ x[i] rows[r * width + i]. REQUIRES: every |x[i]| <= 127; width < 2^17.
void multiply_bytes(const std::int8_t* rows, std::int64_t count, std::int64_t width,
                    const std::int16_t* x, std::int32_t* products);

}  // namespace quire::kernels
