// SPDX-License-Identifier: Apache-2.0
#include "io/file_descriptor.h"

#include <fcntl.h>
#include <quire/error.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

namespace quire {

void throw_system_error(const std::filesystem::path& path, int error, const char* action) {
  const ErrorCode code = error == ENOENT || error == ENOTDIR ? ErrorCode::kNotFound
                         : error == ENOMEM                   ? ErrorCode::kOutOfMemory
                                                             : ErrorCode::kIo;
  throw Error(code, path.native(),
              std::string("cannot ") + action + ": " + std::generic_category().message(error));
}

FileDescriptor::FileDescriptor(const std::filesystem::path& path) {
  do {
    // O_NONBLOCK: opening a pipe for reading would otherwise wait for a writer.
    fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) throw_system_error(path, errno, "open");

  struct stat status {};
  const int error = ::fstat(fd_, &status) == 0 ? 0 : errno;
  if (error != 0 || !S_ISREG(status.st_mode)) {
    ::close(fd_);
    if (error != 0) throw_system_error(path, error, "read its size");
    throw Error(
        ErrorCode::kIo, path.native(),
        S_ISDIR(status.st_mode) ? "expected a file, found a directory" : "expected a regular file");
  }
  size_ = static_cast<std::uint64_t>(status.st_size);
}

void sync_folder(const std::filesystem::path& path) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) throw_system_error(path, errno, "open");
  const int error = ::fsync(fd) == 0 ? 0 : errno;
  ::close(fd);
  if (error != 0) throw_system_error(path, error, "write");
}

FileDescriptor::~FileDescriptor() { ::close(fd_); }

}  // namespace quire
