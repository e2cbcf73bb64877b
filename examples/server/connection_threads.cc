// SPDX-License-Identifier: Apache-2.0
#include "connection_threads.h"

#include <system_error>
#include <utility>

namespace server {

void ConnectionThreads::enqueue(std::function<void()> serve) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(serve));
    if (waiting_.size() > idle_ && threads_.size() < most_) start_another();
    if (!threads_.empty()) {
      changed_.notify_one();
      return;
    }
    serve = std::move(waiting_.back());
    waiting_.pop_back();
  }
  serve();
}

void ConnectionThreads::start_another() {
  try {
    threads_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // Those that are there go on.
  }
}

void ConnectionThreads::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    ++idle_;
    changed_.wait(lock, [this] { return ends_ || !waiting_.empty(); });
    --idle_;
    if (waiting_.empty()) return;
    const std::function<void()> serve = std::move(waiting_.front());
    waiting_.pop_front();
    lock.unlock();
    serve();
    lock.lock();
  }
}

void ConnectionThreads::shutdown() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

}  // namespace server
