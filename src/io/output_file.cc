// SPDX-License-Identifier: Apache-2.0
#include "io/output_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/file_descriptor.h"

namespace quire {

OutputFile::OutputFile(const std::filesystem::path& path) : path_(path) {
  constexpr mode_t kReadableByAll = 0666;  // less what the process's umask takes away
  do {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kReadableByAll);
  } while (fd_ < 0 && errno == EINTR);
  if (fd_ < 0) throw_system_error(path, errno, "create");
}

OutputFile::~OutputFile() { ::close(fd_); }

bool OutputFile::claim() {
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(fd_, &status) != 0 || status.st_nlink > 0;
}

void remove_unclaimed(const std::filesystem::path& path) noexcept {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  if (fd < 0) return;
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) ::unlink(path.c_str());
  ::close(fd);
}

void OutputFile::write(std::span<const std::byte> bytes) {
  constexpr std::size_t kMostAtOnce = std::size_t{1} << 30;  // the system takes no more than 2 GB
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd_, bytes.data(), std::min(bytes.size(), kMostAtOnce));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) throw_system_error(path_, errno, "write");
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

void OutputFile::write(std::string_view text) { write(std::as_bytes(std::span(text))); }

void OutputFile::finish() {
  if (::fsync(fd_) != 0) throw_system_error(path_, errno, "write");
}

void write_new_file(const std::filesystem::path& path, std::string_view text) {
  OutputFile file(path);
  file.write(text);
  file.finish();
}

}  // namespace quire
