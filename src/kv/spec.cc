// SPDX-License-Identifier: Apache-2.0
#include <quire/dtype.h>
#include <quire/kv_cache.h>

namespace quire {

std::string_view to_string(DType dtype) {
  switch (dtype) {
    case DType::kF32:
      return "f32";
    case DType::kBF16:
      return "bf16";
    case DType::kF16:
      return "f16";
    case DType::kNative:
      return "native";
    case DType::kAuto:
      break;
  }
  return "auto";
}

std::string_view to_string(Device device) { return device == Device::kCuda ? "cuda" : "cpu"; }

std::int64_t KvSpec::bytes_per_token() const {
  const std::int64_t bytes = dtype == DType::kF32 ? 4 : 2;
  std::int64_t total = 0;
  for (const KvLayer& layer : layers) total += 2 * layer.kv_heads * layer.head_dim * bytes;
  return total;
}

}  // namespace quire
