// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include <quire/export.h>

namespace quire {

// How a model's weights and KV are held in memory.
enum class DType : std::uint8_t {
  kF32,
  kBF16,
  kF16,
  kAuto,  // what the files hold: float32 stays float32, everything else becomes bfloat16
};

// "f32", "bf16", "f16", "auto".
QUIRE_EXPORT std::string_view to_string(DType dtype);

enum class Device : std::uint8_t { kCpu, kCuda };

// "cpu", "cuda".
QUIRE_EXPORT std::string_view to_string(Device device);

}  // namespace quire
