// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/gguf.h"
#include "formats/tensor_table.h"
#include "io/mapped_file.h"

namespace quire {

inline constexpr char kGgufMagic[4] = {'G', 'G', 'U', 'F'};

// A value of the file, which may lie at any address. REQUIRES: a little-endian machine.
template <typename T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

// The bytes of one value of a type of fixed size; 0 for strings and arrays.
std::size_t scalar_bytes(GgufType type);

// What a file says before its tensor data.
struct GgufDescription {
  std::uint32_t version = 0;
  std::uint64_t alignment = 32;
  std::vector<GgufEntry> entries;  // by key
  TensorTable tensors;
};

// Reads and checks the description of a GGUF file, in the order of its bytes:
//
//   magic "GGUF", version u32, tensor count u64, metadata count u64
//   each metadata entry: key string, type u32, value
//     string: length u64, bytes.  array: element type u32, count u64, elements.
//   each tensor: name string, dimension count u32, dimensions u64 (innermost first), type u32,
//     offset u64 (from the start of the tensor data)
//   zeros up to a multiple of general.alignment, then the tensor data
class GgufParser {
 public:
  explicit GgufParser(const MappedFile& file) : file_(file), bytes_(file.bytes()) {}

  // Throws Error as GgufFile. Call once.
  GgufDescription parse();

 private:
  struct Tensor {
    std::string name;
    std::vector<std::int64_t> shape;  // outermost first
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;  // once known
  };

  // Reading: `what` names in errors what the bytes belong to.
  std::uint64_t left() const { return bytes_.size() - at_; }
  std::span<const std::byte> take(std::uint64_t count, std::string_view what);
  template <typename T>
  T take(std::string_view what) {
    return load<T>(take(sizeof(T), what).data());
  }
  std::string_view take_string(std::string_view what);
  std::uint64_t take_count(std::uint64_t smallest, std::string_view what);

  std::uint64_t read_head();
  void read_entries(std::uint64_t count);
  GgufType read_type(std::string_view what);
  GgufValue read_value(GgufType type, std::string_view what);
  GgufValue read_array(std::string_view what, int depth);
  void skip_elements(const GgufValue& array, std::string_view what, int depth);
  void read_alignment();
  std::vector<Tensor> read_tensors(std::uint64_t count);
  std::vector<std::int64_t> read_shape(std::string_view what);
  void place_tensors(std::vector<Tensor> tensors);
  std::uint64_t bytes_of(const Tensor& tensor) const;
  [[noreturn]] void fail_misplaced(std::span<const Tensor> tensors, std::uint64_t expected) const;

  [[noreturn]] void fail(std::string_view what, std::string_view problem) const;

  const MappedFile& file_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;  // what is read next
  GgufDescription out_;
};

}  // namespace quire
