// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace quire {

// A tensor type of GGUF files: one that holds weights, one of plain integers, or one that is known
// by name only.
struct GgufTensorType {
  std::uint32_t id;
  std::string_view name;
  std::optional<BlockType> block;
  std::int64_t bytes = 0;  // an element's, of integer types

  // As quire::byte_count. REQUIRES: block or bytes.
  std::optional<std::int64_t> byte_count(std::span<const std::int64_t> shape) const;
};

// nullptr for an id that ggml has not given out, or has taken back.
const GgufTensorType* find_gguf_tensor_type(std::uint32_t id);

}  // namespace quire
