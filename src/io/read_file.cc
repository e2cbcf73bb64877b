// SPDX-License-Identifier: Apache-2.0
#include "io/read_file.h"

#include <quire/error.h>
#include <unistd.h>

#include <cerrno>
#include <new>

#include "io/file_descriptor.h"

namespace quire {

namespace {

std::string buffer_for(const FileDescriptor& file, const std::filesystem::path& path) {
  try {
    return std::string(static_cast<std::size_t>(file.size()), '\0');
  } catch (const std::exception&) {  // bad_alloc, or length_error beyond what a string can hold
    throw Error(ErrorCode::kOutOfMemory, path.native(),
                "no memory for its " + std::to_string(file.size()) + " bytes");
  }
}

}  // namespace

std::string read_file(const std::filesystem::path& path, std::uint64_t most) {
  const FileDescriptor file(path);
  if (file.size() > most) {
    throw Error(ErrorCode::kCorrupt, path.native(),
                "expected at most " + std::to_string(most) + " bytes, found " +
                    std::to_string(file.size()));
  }
  std::string text = buffer_for(file, path);
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t got = ::read(file.get(), text.data() + done, text.size() - done);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_system_error(path, errno, "read");
    if (got == 0) break;  // it became shorter since it was opened
    done += static_cast<std::size_t>(got);
  }
  text.resize(done);
  return text;
}

}  // namespace quire
