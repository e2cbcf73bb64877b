// SPDX-License-Identifier: Apache-2.0
#include "serving.h"

#include <malloc.h>
#include <quire/error.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <iostream>

namespace server {
namespace {

std::atomic<int> signal_pipe = -1;  // where the handler writes; it may do little else
static_assert(std::atomic<int>::is_always_lock_free);

// While it lives, the first signal to stop wakes wait().
class StopSignal {
 public:
  StopSignal() {
    if (::pipe(pipe_) != 0) {
      throw quire::Error(quire::ErrorCode::kIo, "pipe", "the system has none left");
    }
    signal_pipe = pipe_[1];
    struct sigaction action = {};
    action.sa_handler = [](int) {
      const int saved = errno;
      [[maybe_unused]] const auto ignored = ::write(signal_pipe, "", 1);
      errno = saved;
    };
    action.sa_flags = SA_RESETHAND | SA_RESTART;
    ::sigaction(SIGTERM, &action, nullptr);
    ::sigaction(SIGINT, &action, nullptr);
  }

  ~StopSignal() {
    std::signal(SIGTERM, SIG_DFL);
    std::signal(SIGINT, SIG_DFL);
    ::close(pipe_[0]);
    ::close(pipe_[1]);
  }

  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  void wait() {
    char byte = 0;
    while (::read(pipe_[0], &byte, 1) < 0 && errno == EINTR) {
    }
  }

 private:
  int pipe_[2];
};

// Any connection's thread may compute a pass for all of them. With its defaults, glibc would let
// many of them keep freed buffers, some MiB each, in arenas of their own: three times the memory
// that is in use, reached over minutes.
void return_freed_memory() {
  ::mallopt(M_ARENA_MAX, 2);
  ::mallopt(M_MMAP_THRESHOLD, 128 << 10);  // and no more growing with what is freed
}

}  // namespace

void serve_until_signal(Engine& engine, const HttpOptions& options) {
  return_freed_memory();
  StopSignal stop;
  HttpServer http(engine, options);
  std::cerr << "listening on " << http.url() << std::endl;
  stop.wait();
  http.stop();
}

}  // namespace server
