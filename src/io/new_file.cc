// SPDX-License-Identifier: Apache-2.0
#include "io/new_file.h"

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <string>
#include <system_error>

#include "io/file_descriptor.h"
#include "io/output_file.h"

namespace quire {

namespace fs = std::filesystem;

NewFile::NewFile(const fs::path& target) {
  static std::atomic<std::uint64_t> next{0};
  std::error_code error;
  // Through a link: it is the file behind it that is replaced.
  target_ = fs::weakly_canonical(fs::absolute(target), error);
  if (error) throw_system_error(target, error.value(), "find it");
  do {
    path_ = target_.parent_path() / ('.' + target_.filename().native() + ".partial-" +
                                     std::to_string(::getpid()) + '-' + std::to_string(next++));
  } while (fs::exists(path_, error));  // left over by a process that had this number
  file_ = std::make_unique<OutputFile>(path_);
}

NewFile::~NewFile() {
  if (published_) return;
  std::error_code ignored;
  fs::remove(path_, ignored);
}

void NewFile::write(std::span<const std::byte> bytes) { file_->write(bytes); }

void NewFile::write(std::string_view text) { file_->write(text); }

void NewFile::publish() {
  file_->finish();
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    throw_system_error(target_, errno, "move the finished file there");
  }
  published_ = true;
  sync_folder(target_.parent_path());
}

}  // namespace quire
