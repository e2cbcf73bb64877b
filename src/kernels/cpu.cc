// SPDX-License-Identifier: Apache-2.0
#include <quire/cpu.h>

#include <algorithm>
#include <atomic>

namespace quire {
namespace {

std::atomic<Isa> isa_limit{Isa::kAvx512};

}  // namespace

Isa active_isa() noexcept {
  return std::min(detected_isa(), isa_limit.load(std::memory_order_relaxed));
}

void set_isa_limit(Isa limit) noexcept { isa_limit.store(limit, std::memory_order_relaxed); }

const char* isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::kPortable:
      return "portable";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      break;
  }
  return "avx512";
}

}  // namespace quire
