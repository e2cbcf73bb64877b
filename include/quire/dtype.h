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
  // Weights as the files hold them: quantised blocks keep their codes and meet activations of 8
  // bits, numbers keep their type. KV is bfloat16. CPU only.
  kNative,
  // kNative for files with quantised blocks (on the CPU); else float32 for float32 files, bfloat16
  // for others.
  kAuto,
};

// "f32", "bf16", "f16", "native", "auto".
QUIRE_EXPORT std::string_view to_string(DType dtype);

enum class Device : std::uint8_t { kCpu, kCuda };

// "cpu", "cuda".
QUIRE_EXPORT std::string_view to_string(Device device);

}  // namespace quire
