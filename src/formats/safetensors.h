// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/checkpoint.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/mapped_file.h"

namespace quire {

// A mapped safetensors file:
//
//   header length u64; header, a JSON object that begins with "{" and may end with spaces:
//     {"NAME": {"dtype": "F32", "shape": [2, 3], "data_offsets": [begin, end]}, …,
//      "__metadata__": {"KEY": "TEXT", …}}
//   tensor data, to which offsets are relative
//
// Checked when opened, as the reference implementation does: the header's length, at most 100 MB;
// its JSON; every entry's fields; bytes against dtype and shape; and that the tensors cover the
// data without overlap, gap or rest. (TensorTable looks for tensors of the same name.)
//
// Errors: kNotFound, kIo; kCorrupt naming file and tensor.
//
// Thread-safety: immutable after construction. Views live as long as the object.
class SafetensorsFile {
 public:
  struct Tensor {
    std::string name;
    std::string_view dtype;         // as the format spells it
    std::optional<BlockType> type;  // none: holds no weights (integers, 8-bit floats, …)
    std::vector<std::int64_t> shape;
    std::span<const std::byte> data;
  };

  explicit SafetensorsFile(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  std::span<const Tensor> tensors() const { return tensors_; }  // as their bytes follow each other

  // Leaves none here; their data stays mapped.
  std::vector<Tensor> take_tensors() { return std::exchange(tensors_, {}); }

 private:
  std::span<const std::byte> read_header();
  void check_layout(std::span<const std::byte> data);
  [[noreturn]] void fail(std::string_view what, std::string_view problem) const;

  MappedFile file_;
  std::vector<Tensor> tensors_;
};

}  // namespace quire
