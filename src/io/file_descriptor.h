// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

namespace quire {

// A file opened for reading, closed when this goes out of scope.
class FileDescriptor {
 public:
  // Opens a regular file; never waits for a pipe's other end.
  // Throws Error kNotFound (no such file) or kIo (may not be read, is a directory, …).
  explicit FileDescriptor(const std::filesystem::path& path);
  ~FileDescriptor();
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  int get() const { return fd_; }
  std::uint64_t size() const { return size_; }  // bytes, when it was opened

 private:
  int fd_;
  std::uint64_t size_ = 0;
};

// Makes the names in a folder last. Throws Error kIo.
void sync_folder(const std::filesystem::path& path);

// Throws Error kIo (kOutOfMemory for ENOMEM) about `path`, with what the system says about `error`.
[[noreturn]] void throw_system_error(const std::filesystem::path& path, int error,
                                     const char* action);

}  // namespace quire
