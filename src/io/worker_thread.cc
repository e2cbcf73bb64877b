// SPDX-License-Identifier: Apache-2.0
#include "io/worker_thread.h"

#include <pthread.h>

#include <atomic>

namespace quire {
namespace {

// Forks between the process that first asked and this one.
std::atomic<int> forks{0};

int count_forks() {
  static const int registered =
      pthread_atfork(nullptr, nullptr, [] { forks.fetch_add(1, std::memory_order_relaxed); });
  static_cast<void>(registered);  // it can fail for want of memory: forks then go unnoticed
  return forks.load(std::memory_order_relaxed);
}

}  // namespace

ProcessMark::ProcessMark() : forks_(count_forks()) {}

bool ProcessMark::is_here() const noexcept {
  return forks_ == forks.load(std::memory_order_relaxed);
}

void WorkerThread::finish() {
  if (!thread_.joinable()) return;
  if (is_here()) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

}  // namespace quire
