// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "io/output_file.h"

namespace quire {

// A tensor to come: the header stands before the data.
struct SafetensorsEntry {
  std::string name;
  BlockType type;  // F32, F16, BF16 or F64
  std::vector<std::int64_t> shape;

  std::uint64_t bytes() const;
};

// Writes a safetensors file (safetensors.h describes the format) tensor by tensor, in the order of
// `entries`, holding none of them. Its metadata say "format": "pt", which transformers asks for.
//
// REQUIRES: names differ.
// Errors: kUnsupported for another type, kIo.
// Thread-safety: one thread at a time.
class SafetensorsWriter {
 public:
  SafetensorsWriter(const std::filesystem::path& path, std::span<const SafetensorsEntry> entries);

  // The next bytes, little-endian and row-major; a tensor may come in pieces.
  void write(std::span<const std::byte> bytes);

  // Returns when the file is whole and on the device. Throws Error kInvalidArgument when there came
  // more or fewer bytes than the entries hold.
  void finish();

 private:
  std::filesystem::path path_;
  OutputFile file_;
  std::uint64_t expected_ = 0;
  std::uint64_t written_ = 0;
};

}  // namespace quire
