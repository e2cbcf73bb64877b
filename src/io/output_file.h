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

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  // Returns when the device has everything. A file that is let go without is not to be relied on.
  void finish();

 private:
  std::filesystem::path path_;
  int fd_;
};

// A whole new file of `text`, on the device when this returns.
void write_new_file(const std::filesystem::path& path, std::string_view text);

}  // namespace quire
