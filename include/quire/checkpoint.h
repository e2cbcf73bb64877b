// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <quire/export.h>

namespace quire {

// The element or block encodings that checkpoints hold. Quantised ones are blocks of 32 (Q4_0 …
// Q8_0) or 256 (K types) weights along a row.
enum class BlockType : std::uint8_t {
  kF32, kF16, kBF16, kF64,
  kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0,
  kQ2_K, kQ3_K, kQ4_K, kQ5_K, kQ6_K,
};

// "F32", "Q4_K", …
QUIRE_EXPORT std::string_view to_string(BlockType type);

// One tensor of a checkpoint, where it lies in the mapped file.
struct TensorInfo {
  std::string name;                // as the file spells it
  BlockType type;
  std::vector<std::int64_t> shape;  // outermost first: a linear layer is [out, in]
  std::span<const std::byte> data;  // the encoded bytes; valid while the checkpoint lives
};

// The weights and configuration of a model on disk, mapped and checked but not converted: a Hugging
// Face directory (config.json, model.safetensors or shards with an index) or a .gguf file (v2, v3).
// Every offset, shape and size is checked against the file before a tensor is offered.
//
// Thread-safety: immutable after open.
class QUIRE_EXPORT Checkpoint {
 public:
  enum class Format : std::uint8_t { kSafetensors, kGguf };

  // Throws Error: kNotFound, kUnsupported (block type), kCorrupt, kIo.
  static std::shared_ptr<const Checkpoint> open(const std::filesystem::path& path);

  virtual ~Checkpoint();

  virtual Format format() const = 0;
  virtual const std::filesystem::path& path() const = 0;
  virtual std::span<const TensorInfo> tensors() const = 0;

  // nullptr if there is none of that name. Throws Error kUnsupported for one whose type holds no
  // weights (integers, booleans, …): such tensors are legal, but not among tensors().
  virtual const TensorInfo* find(std::string_view name) const = 0;

  // A JSON object. A directory's is config.json, where NaN, Infinity and -Infinity, which Python
  // writes and JSON lacks, have become strings. GGUF's is its metadata under dotted keys; of arrays
  // under "tokenizer.ggml." and of very long ones only the length is given, as "KEY.length".
  virtual std::string_view config_json() const = 0;
};

// Decodes rows [first, first + count) of a tensor, whose last dimension is the row, to float32.
// `out` holds count * row-length floats. REQUIRES: the rows exist.
QUIRE_EXPORT void dequantize_rows(const TensorInfo& tensor, std::int64_t first, std::int64_t count,
                                  std::span<float> out);

}  // namespace quire
