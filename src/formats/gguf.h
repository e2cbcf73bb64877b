// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/tensor_table.h"
#include "io/mapped_file.h"

namespace quire {

// The types of metadata values, numbered as in the file.
enum class GgufType : std::uint32_t {
  kUint8,
  kInt8,
  kUint16,
  kInt16,
  kUint32,
  kInt32,
  kFloat32,
  kBool,
  kString,
  kArray,
  kUint64,
  kInt64,
  kFloat64,
};

// "uint8", …, "string", "array".
std::string_view to_string(GgufType type);

// One metadata value, where it lies in the mapped file.
struct GgufValue {
  GgufType type;
  GgufType element;                 // of an array; else equal to type
  std::uint64_t count;              // elements of an array; else 1
  std::span<const std::byte> data;  // a string's characters; else the encoded value or elements
};

struct GgufEntry {
  std::string_view key;
  GgufValue value;
};

// A mapped GGUF file, version 2 or 3, little-endian: metadata and tensors. The whole description is
// checked when opened: every count, length, type, alignment, offset and size against the file;
// keys and tensor names are unique; strings are UTF-8; booleans are 0 or 1; tensors follow each
// other without gaps, as ggml lays them out. Time and memory are bounded by the size of the
// description, whatever its counts say.
//
// Format: docs/gguf.md of ggml.
//
// Errors: kNotFound, kIo; kCorrupt; kUnsupported for a block type that is known but not built.
// Typed getters throw kCorrupt naming file, key, expected and found.
//
// Thread-safety: immutable after construction. Views live as long as the object.
class GgufFile {
 public:
  explicit GgufFile(const std::filesystem::path& path);
  GgufFile(const GgufFile&) = delete;
  GgufFile& operator=(const GgufFile&) = delete;

  // True if the file begins with GGUF's magic. Throws Error kNotFound, kIo.
  static bool has_magic(const std::filesystem::path& path);

  const std::filesystem::path& path() const { return file_.path(); }
  std::uint32_t version() const { return version_; }
  std::uint64_t alignment() const { return alignment_; }
  const TensorTable& tensors() const { return tensors_; }
  std::span<const GgufEntry> entries() const { return entries_; }  // by key

  const GgufValue* find(std::string_view key) const;  // nullptr when absent
  bool has(std::string_view key) const { return find(key) != nullptr; }

  std::int64_t integer(std::string_view key) const;  // any integer type whose value fits
  double number(std::string_view key) const;         // any integer or float type; finite
  bool boolean(std::string_view key) const;
  std::string_view string(std::string_view key) const;

  std::int64_t integer_or(std::string_view key, std::int64_t fallback) const;
  double number_or(std::string_view key, double fallback) const;
  bool boolean_or(std::string_view key, bool fallback) const;
  std::string_view string_or(std::string_view key, std::string_view fallback) const;

  // Whole arrays. Note: strings are views into the file, numbers are copied (files do not align).
  std::vector<std::string_view> strings(std::string_view key) const;
  std::vector<std::int64_t> integers(std::string_view key) const;  // any integer type
  std::vector<float> floats(std::string_view key) const;           // float32 only; finite

  // Throws Error kCorrupt about `key` of this file.
  [[noreturn]] void fail(std::string_view key, std::string_view problem) const;

 private:
  const GgufValue& at(std::string_view key) const;
  const GgufValue& array(std::string_view key, std::string_view expected) const;

  MappedFile file_;
  std::uint32_t version_ = 0;
  std::uint64_t alignment_ = 0;
  std::vector<GgufEntry> entries_;
  TensorTable tensors_;
};

// The value as an integer. REQUIRES: `at` points to an encoded value of `type`, an integer type.
// Returns false when it does not fit (uint64 above 2^63 - 1).
bool decode_integer(GgufType type, const std::byte* at, std::int64_t& out);

}  // namespace quire
