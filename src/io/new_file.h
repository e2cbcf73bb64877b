// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>

namespace quire {

class OutputFile;

// A file that appears under its name complete or not at all, in place of one that may be there: it
// is written beside its place, under a name that begins with a dot, and moved there at the end.
// Unless that happens, it goes with this object, or if the process dies, when the next one is made
// for that place.
//
// Errors: as OutputFile.
// Thread-safety: one thread at a time.
class NewFile {
 public:
  explicit NewFile(const std::filesystem::path& target);
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);

  // Moves it to its place, on the device when this returns.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  std::unique_ptr<OutputFile> file_;
  bool published_ = false;
};

}  // namespace quire
