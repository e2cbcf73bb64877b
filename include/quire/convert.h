// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/dtype.h>
#include <quire/export.h>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace quire {

struct ConvertOptions {
  // kF32 or kBF16; kAuto: float32 if the file's matrices are, else bfloat16. In float32 the weights
  // are those of the file to the last bit.
  DType dtype = DType::kAuto;
  // A file of weights ends before it would grow beyond this; a larger tensor has one of its own.
  std::int64_t shard_bytes = 4'000'000'000;
  // Called now and then with a fraction from 0 to 1. What it throws ends the conversion.
  std::function<void(double)> progress = {};
};

struct Converted {
  std::filesystem::path path;  // absolute
  std::int64_t tensors = 0;
  std::int64_t bytes = 0;  // of all tensors
};

// Turns a .gguf file into a Hugging Face directory that transformers and Model::load read to the
// same logits and token ids: config.json, generation_config.json, model.safetensors (or shards with
// an index), tokenizer.json, and tokenizer_config.json with the chat template.
//
// Works tensor by tensor: memory does not grow with the model. `to` is a new folder or an empty
// one; it appears complete or not at all, checked as loading would check it. (A process that is
// killed leaves a folder ".NAME.partial-…" beside it.)
//
// Throws Error as Model::load does for the file; kUnsupported for what is no .gguf file, and for
// what a directory of that architecture cannot say, and for a vocabulary with scores that has a
// piece of more than 1024 bytes; kInvalidArgument (dtype, shard_bytes, a folder that is not empty),
// kIo.
//
// Thread-safety: may be called concurrently with different folders.
QUIRE_EXPORT Converted convert(const std::filesystem::path& from, const std::filesystem::path& to,
                               const ConvertOptions& options = {});

}  // namespace quire
