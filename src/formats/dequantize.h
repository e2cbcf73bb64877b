// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstddef>
#include <cstdint>

namespace quire {

// Decodes whole blocks to float32: `elements` weights from `data` to `out`. Values equal those of
// gguf-py's quants.dequantize bit for bit, which fixes the order of the float32 operations.
//
// The blocks, byte by byte (f16 is little-endian binary16; nibble j and j + half of a run share a
// byte, the first in its low half):
//
//   Q4_0   32 weights: f16 d; 16 bytes of nibbles.                            w = d (q - 8)
//   Q4_1   32: f16 d, f16 m; 16 bytes of nibbles.                             w = d q + m
//   Q5_0   32: f16 d; 32 fifth bits; 16 bytes of nibbles.                     w = d (q - 16)
//   Q5_1   32: f16 d, f16 m; 32 fifth bits; 16 bytes of nibbles.              w = d q + m
//   Q8_0   32: f16 d; 32 signed bytes.                                        w = d q
//   Q2_K   256 in 16 groups: 16 bytes (scale | min << 4); 64 bytes of 2 bits, four runs of 32 to
//          each 32 bytes; f16 d, f16 dmin.                       w = (d scale) q - dmin min
//   Q3_K   256 in 16 groups: 32 bytes of third bits (bit i: run i of 32); 64 bytes of 2 bits as
//          Q2_K; 12 bytes with 16 scales of 6 bits; f16 d.       w = (d (scale - 32)) (q - 4)
//   Q4_K   256 in 8 groups: f16 d, f16 dmin; 12 bytes with 8 scales and 8 mins of 6 bits; 128 bytes
//          of nibbles, two groups to each 32 bytes.              w = (d scale) q - dmin min
//   Q5_K   as Q4_K, with 32 bytes of fifth bits (bit i: group i) before the nibbles.
//   Q6_K   256 in 16 groups: 128 bytes of low nibbles; 64 bytes of two high bits; 16 signed scales;
//          f16 d.                                                w = (d scale) (q - 32)
//
// REQUIRES: elements is a multiple of the block's; `data` and `out` hold them (at any address).
void dequantize(BlockType type, const std::byte* data, std::int64_t elements, float* out);

}  // namespace quire
