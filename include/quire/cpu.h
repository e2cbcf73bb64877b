// SPDX-License-Identifier: Apache-2.0
// Which instructions the CPU kernels may use. Detected once for the process and reduced, if the
// host wants, by a limit that it sets.
//
// Results of one instruction set are reproducible bit for bit on one machine; two sets differ by
// rounding, and so do two machines with AVX-512 of which one has AVX512_BF16: it rounds what meets
// bfloat16 weights to bfloat16.
// Thread-safety: all functions may be called from any thread; change the limit while nothing runs.
#pragma once

#include <quire/export.h>

#include <cstdint>

namespace quire {

// Each includes those before it.
enum class Isa : std::uint8_t {
  kPortable,  // what the compiler's baseline has
  kAvx2,      // AVX2, FMA, F16C
  kAvx512,    // AVX-512 F, BW, DQ, VL
};

// The best that this machine, its operating system and this build have.
QUIRE_EXPORT Isa detected_isa() noexcept;

// What the kernels use from now on: the smaller of detected_isa() and the limit (none at first).
QUIRE_EXPORT Isa active_isa() noexcept;
QUIRE_EXPORT void set_isa_limit(Isa limit) noexcept;

// "portable", "avx2", "avx512".
QUIRE_EXPORT const char* isa_name(Isa isa) noexcept;

}  // namespace quire
