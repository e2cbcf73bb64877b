// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "io/redis_connection.h"
#include "io/worker_thread.h"

namespace quire {

// Connections to one Redis, kept by a thread that makes them and makes them again: no call ever
// waits for a connection, so a Redis that is gone costs nothing, and one that stops answering costs
// one call its time-out. Between tries the thread waits, longer each time: 250 ms at first, 30 s at
// last.
//
// Thread-safety: all methods may be called concurrently. Each line serves one call at a time.
class RedisLines {
 public:
  using Deadline = RedisConnection::Deadline;

  enum class Outcome { kDone, kFailed, kSkipped };  // skipped: there was no connection to try

  struct Stats {
    std::int64_t failures = 0;
    std::int64_t timeouts = 0;  // of these, for want of an answer in time
    std::int64_t skipped = 0;
  };

  // Throws Error kInvalidArgument: the URL (parse_redis_url), a time-out below 1 ms.
  RedisLines(const std::string& url, std::chrono::milliseconds timeout, std::size_t lines);
  ~RedisLines();

  // What one call may take that starts now.
  Deadline deadline() const { return std::chrono::steady_clock::now() + timeout_; }

  // Runs `work` on a line's connection. Whatever it throws, the line is lost: what is still to come
  // on it would be taken for other answers.
  Outcome use(std::size_t line, Deadline deadline,
              const std::function<void(RedisConnection&)>& work);

  Stats stats() const;

 private:
  struct Line {
    std::timed_mutex mutex;
    std::unique_ptr<RedisConnection> connection;  // null: none
  };

  void keep_connected();
  bool connect_all();
  bool connect(Line& line);

  const RedisAddress address_;
  const std::chrono::milliseconds timeout_;
  std::deque<Line> lines_;

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  Stats stats_;
  bool lost_ = true;  // a line has no connection
  bool stopping_ = false;
  std::optional<WorkerThread> keeper_;
};

}  // namespace quire
