// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

namespace quire {

// A new file, written from its beginning to its end.
//
// Errors: kIo (kOutOfMemory, kNotFound for a folder that is not there), naming the file.
// Thread-safety: one thread at a time.
class OutputFile {
 public:
  // Throws, too, when there is a file of that name.
  explicit OutputFile(const std::filesystem::path& path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Holds a lock on the file from now on, as long as it is open; true where there are no locks.
  // False: somebody took it for a leftover, and it is removed or about to be.
  bool claim();

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  // Returns when the device has everything. A file that is let go without is not to be relied on.
  void finish();

 private:
  std::filesystem::path path_;
  int fd_;
};

// Removes a file that was claimed by a process that is gone; leaves one that somebody writes.
void remove_unclaimed(const std::filesystem::path& path) noexcept;

// A whole new file of `text`, on the device when this returns.
void write_new_file(const std::filesystem::path& path, std::string_view text);

}  // namespace quire
