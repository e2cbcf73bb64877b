// SPDX-License-Identifier: Apache-2.0
// x86-64: three versions of every kernel, chosen by what processor and operating system support.
#include <cpuid.h>
#include <quire/cpu.h>

#include "kernels/attention_kernels.h"
#include "kernels/byte_products_kernels.h"
#include "kernels/elementwise_kernels.h"
#include "kernels/linear_kernels.h"
#include "kernels/quantised_kernels.h"

namespace quire {
namespace {

template <typename Table>
const Table& choose(Isa isa, const Table& portable, const Table& avx2, const Table& avx512) {
  switch (isa) {
    case Isa::kAvx512:
      return avx512;
    case Isa::kAvx2:
      return avx2;
    case Isa::kPortable:
      break;
  }
  return portable;
}

// Clang's __builtin_cpu_supports does not know this one.
bool has_f16c() noexcept {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  return __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

Isa detect() noexcept {
  // The compiler's run time asks the operating system too whether it saves the wide registers.
  __builtin_cpu_init();
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma") || !has_f16c()) {
    return Isa::kPortable;
  }
  if (!__builtin_cpu_supports("avx512f") || !__builtin_cpu_supports("avx512bw") ||
      !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl")) {
    return Isa::kAvx2;
  }
  return Isa::kAvx512;
}

}  // namespace

Isa detected_isa() noexcept {
  static const Isa isa = detect();
  return isa;
}

const AttentionKernels& attention_kernels(Isa isa) {
  return choose(isa, kAttentionPortable, kAttentionAvx2, kAttentionAvx512);
}

const LinearKernels& linear_kernels(Isa isa) {
  static const LinearKernels avx512 = [] {
    LinearKernels kernels = kLinearAvx512;
    if (__builtin_cpu_supports("avx512bf16")) {
      kernels.bf16 = kLinearPairsAvx512.bf16;
      kernels.round_to_pairs = kLinearPairsAvx512.round_to_pairs;
    }
    return kernels;
  }();
  return choose(isa, kLinearPortable, kLinearAvx2, avx512);
}

// The versions give the same bits, so a processor without the extension may do with the narrower.
const QuantisedKernels& quantised_kernels(Isa isa) {
  static const bool has_vnni = __builtin_cpu_supports("avx512vnni") != 0;
  return choose(isa, kQuantisedPortable, kQuantisedAvx2,
                has_vnni ? kQuantisedAvx512 : kQuantisedAvx2);
}

const ElementwiseKernels& elementwise_kernels(Isa isa) {
  return choose(isa, kElementwisePortable, kElementwiseAvx2, kElementwiseAvx512);
}

const ByteProductsKernels& byte_products_kernels(Isa isa) {
  return choose(isa, kByteProductsPortable, kByteProductsAvx2, kByteProductsAvx512);
}

}  // namespace quire
