// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <thread>
#include <utility>

namespace quire {

// Says whether this is still the process in which it was made, or one that came of it by fork():
// such a process has the memory of its parent, but none of its other threads, and shares its
// sockets and files.
//
// Thread-safety: immutable.
class ProcessMark {
 public:
  ProcessMark();
  bool is_here() const noexcept;

 private:
  int forks_;
};

// A thread that is waited for when this is destroyed; in a forked process there is none to wait
// for.
//
// Thread-safety: none.
class WorkerThread {
 public:
  // Throws std::system_error.
  template <typename Work>
  explicit WorkerThread(Work&& work) : thread_(std::forward<Work>(work)) {}
  ~WorkerThread() { finish(); }
  WorkerThread(WorkerThread&&) noexcept = default;
  WorkerThread& operator=(WorkerThread&&) = delete;

  bool is_here() const noexcept { return mark_.is_here(); }

 private:
  void finish();

  ProcessMark mark_;
  std::thread thread_;
};

}  // namespace quire
