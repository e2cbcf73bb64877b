// SPDX-License-Identifier: Apache-2.0
// The functions of sockets, for every caller in the process.
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "tests/faults/interpose.h"

namespace {

using quire::faults::Call;
using quire::faults::fails;

int failure(int error) {
  errno = error;
  return -1;
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int connect(int fd, const sockaddr* address, socklen_t size) {
  if (fails(Call::kConnect)) return failure(ECONNREFUSED);
  return static_cast<int>(::syscall(SYS_connect, fd, address, size));
}

ssize_t send(int fd, const void* from, size_t size, int flags) {
  if (fails(Call::kSend)) return failure(ECONNRESET);
  return ::syscall(SYS_sendto, fd, from, size, flags, nullptr, 0);
}

ssize_t recv(int fd, void* to, size_t size, int flags) {
  if (fails(Call::kReceive)) return failure(ECONNRESET);
  if (fails(Call::kEnd)) return 0;
  return ::syscall(SYS_recvfrom, fd, to, size, flags, nullptr, nullptr);
}

int poll(pollfd* files, nfds_t count, int milliseconds) {
  if (fails(Call::kPoll)) return failure(ENOMEM);
  return static_cast<int>(::syscall(SYS_poll, files, count, milliseconds));
}

}  // extern "C"
#pragma GCC visibility pop
