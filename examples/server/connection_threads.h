// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace server {

// The threads that serve connections, started as they are needed. Where the system refuses to start
// more, those that are there serve all; where there is none, the caller does.
//
// Thread-safety: enqueue and shutdown from the thread that listens.
class ConnectionThreads : public httplib::TaskQueue {
 public:
  explicit ConnectionThreads(std::size_t most) : most_(most) {}

  void enqueue(std::function<void()> serve) override;
  void shutdown() override;  // serves what is enqueued, and ends the threads

 private:
  void work();
  void start_another();  // REQUIRES the lock

  const std::size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> waiting_;
  std::vector<std::thread> threads_;
  std::size_t idle_ = 0;
  bool ends_ = false;
};

}  // namespace server
