// SPDX-License-Identifier: Apache-2.0
#include "io/new_folder.h"

#include <quire/error.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "io/file_descriptor.h"

namespace quire {

namespace fs = std::filesystem;

namespace {

void check_free(const fs::path& target) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(target, error);
  if (status.type() == fs::file_type::not_found) return;
  const bool empty = fs::is_directory(status) && fs::is_empty(target, error);
  if (error) throw_system_error(target, error.value(), "look into it");
  if (!empty) {
    throw Error(ErrorCode::kInvalidArgument, target.native(),
                fs::is_directory(status) ? "expected a new or empty folder, found files in it"
                                         : "expected a new or empty folder, found something else");
  }
}

// The topmost part of `path` that is not there.
fs::path first_missing(fs::path path) {
  fs::path missing;
  std::error_code error;
  for (; !path.empty() && !fs::exists(path, error); path = path.parent_path()) {
    if (error) throw_system_error(path, error.value(), "look for it");
    missing = path;
  }
  return missing;
}

}  // namespace

NewFolder::NewFolder(const fs::path& target) {
  std::error_code error;
  target_ = fs::absolute(target, error);
  if (!error) target_ = fs::weakly_canonical(target_, error);
  if (error) throw_system_error(target, error.value(), "find it");
  if (!target_.has_filename()) target_ = target_.parent_path();  // "out/"
  check_free(target_);
  const fs::path parent = target_.parent_path();
  made_ = first_missing(parent);
  fs::create_directories(parent, error);
  if (error) throw_system_error(parent, error.value(), "create");
  const std::string name =
      '.' + target_.filename().native() + ".partial-" + std::to_string(::getpid()) + '-';
  for (int i = 0; path_.empty(); ++i) {
    const fs::path candidate = parent / (name + std::to_string(i));
    if (fs::create_directory(candidate, error)) path_ = candidate;
    if (error) throw_system_error(candidate, error.value(), "create");
  }
}

NewFolder::~NewFolder() {
  if (published_) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (made_.empty()) return;
  // Only while empty: somebody else may have put something there.
  for (fs::path folder = target_.parent_path(); folder != made_.parent_path();
       folder = folder.parent_path()) {
    if (!fs::remove(folder, ignored)) return;
  }
}

void NewFolder::publish() {
  sync_folder(path_);
  // Takes the place of an empty folder, and of nothing else.
  if (::rename(path_.c_str(), target_.c_str()) != 0) {
    throw_system_error(target_, errno, "move the finished folder there");
  }
  published_ = true;
  sync_folder(target_.parent_path());
}

}  // namespace quire
