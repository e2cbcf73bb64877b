// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace quire {

// A whole file mapped read-only. Pages are read when touched, shared by every process that maps the
// file, and the system may take them back at any time. An empty file has an empty span.
//
// The file must not become shorter while mapped: touching a page past its end is SIGBUS. Replace
// model files by renaming a new one over them. Small files are better read (read_file.h).
//
// Thread-safety: immutable.
class MappedFile {
 public:
  // Throws Error kNotFound, kIo, kOutOfMemory (no address space).
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(MappedFile&& other) noexcept;
  MappedFile& operator=(MappedFile&& other) noexcept;

  const std::filesystem::path& path() const { return path_; }
  std::span<const std::byte> bytes() const { return bytes_; }
  std::size_t size() const { return bytes_.size(); }
  std::string_view text() const {
    return {reinterpret_cast<const char*>(bytes_.data()), bytes_.size()};
  }

 private:
  std::filesystem::path path_;
  std::span<const std::byte> bytes_;
};

// Gives the memory of the whole pages inside `part`, a part of a mapped file, back to the system;
// what is touched again is read again. Note: a page that `part` covers only partly stays.
// Thread-safety: may be called while others read the same pages.
void drop_pages(std::span<const std::byte> part) noexcept;

}  // namespace quire
