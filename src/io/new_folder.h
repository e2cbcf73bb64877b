// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace quire {

// A folder that appears under its name complete or not at all: it is filled beside its place, under
// a name that begins with a dot, and moved there at the end. Unless that happens, it goes with this
// object, and so do the folders above it that were made for it.
//
// Errors: kInvalidArgument when the place is taken by a file or by a folder that is not empty; kIo.
// Thread-safety: one thread at a time.
class NewFolder {
 public:
  explicit NewFolder(const std::filesystem::path& target);
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }  // where to put its files
  const std::filesystem::path& target() const { return target_; }

  // Moves it to its place, on the device when this returns.
  void publish();

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;
  std::filesystem::path made_;  // the topmost folder made above it; empty: none
  bool published_ = false;
};

}  // namespace quire
