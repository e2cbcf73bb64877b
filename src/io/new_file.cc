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

namespace {

void remove_leftovers(const fs::path& folder, const std::string& beginning) {
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().filename().native().starts_with(beginning)) remove_unclaimed(at->path());
  }
}

}  // namespace

NewFile::NewFile(const fs::path& target) {
  static std::atomic<std::uint64_t> next{0};
  std::error_code error;
  // Through a link: it is the file behind it that is replaced.
  target_ = fs::absolute(target, error);
  if (!error) target_ = fs::weakly_canonical(target_, error);
  if (error) throw_system_error(target, error.value(), "find it");
  const std::string beginning = '.' + target_.filename().native() + ".partial-";
  remove_leftovers(target_.parent_path(), beginning);
  do {
    file_.reset();
    path_ = target_.parent_path() /
            (beginning + std::to_string(::getpid()) + '-' + std::to_string(next++));
    if (fs::exists(path_, error)) continue;  // of another process that has this number
    file_ = std::make_unique<OutputFile>(path_);
  } while (!file_ || !file_->claim());
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
