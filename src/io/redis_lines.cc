// SPDX-License-Identifier: Apache-2.0
#include "io/redis_lines.h"

#include <quire/error.h>

#include <algorithm>
#include <exception>
#include <utility>

namespace quire {
namespace {

constexpr auto kFirstPause = std::chrono::milliseconds(250);
constexpr auto kLongestPause = std::chrono::milliseconds(30'000);

std::chrono::milliseconds checked(std::chrono::milliseconds timeout) {
  if (timeout.count() >= 1) return timeout;
  throw Error(ErrorCode::kInvalidArgument, "redis_timeout",
              "expected at least 1 ms, found " + std::to_string(timeout.count()));
}

}  // namespace

RedisLines::RedisLines(const std::string& url, std::chrono::milliseconds timeout, std::size_t lines)
    : address_(parse_redis_url(url)), timeout_(checked(timeout)) {
  for (std::size_t i = 0; i < lines; ++i) lines_.emplace_back();
  lost_ = !connect_all();
  keeper_.emplace([this] { keep_connected(); });
}

RedisLines::~RedisLines() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  keeper_.reset();
}

RedisLines::Stats RedisLines::stats() const {
  const std::lock_guard lock(mutex_);
  return stats_;
}

bool RedisLines::connect_all() {
  return std::ranges::all_of(lines_, [this](Line& line) { return connect(line); });
}

bool RedisLines::connect(Line& line) {
  {
    const std::lock_guard lock(line.mutex);
    if (line.connection != nullptr) return true;
  }
  try {
    auto made = std::make_unique<RedisConnection>(address_, deadline());
    const std::lock_guard lock(line.mutex);
    line.connection = std::move(made);
    return true;
  } catch (const std::exception&) {
    const std::lock_guard lock(mutex_);
    ++stats_.failures;
    return false;
  }
}

void RedisLines::keep_connected() {
  auto pause = kFirstPause;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    if (!lost_) {
      changed_.wait(lock, [this] { return lost_ || stopping_; });
      pause = kFirstPause;
    }
    if (changed_.wait_for(lock, pause, [this] { return stopping_; })) return;
    lost_ = false;
    lock.unlock();
    const bool connected = connect_all();
    lock.lock();
    if (connected) continue;
    lost_ = true;
    pause = std::min(2 * pause, kLongestPause);
  }
}

RedisLines::Outcome RedisLines::use(std::size_t index, Deadline deadline,
                                    const std::function<void(RedisConnection&)>& work) {
  Line& line = lines_[index];
  const std::unique_lock lock(line.mutex, deadline);
  if (!lock || line.connection == nullptr) {
    const std::lock_guard counting(mutex_);
    ++stats_.skipped;
    return Outcome::kSkipped;
  }
  bool late = false;
  try {
    work(*line.connection);
    return Outcome::kDone;
  } catch (const RedisFailure& failure) {
    late = failure.timed_out;
  } catch (const std::exception&) {
    // Whoever takes what was found failed.
  }
  line.connection.reset();
  const std::lock_guard counting(mutex_);
  ++stats_.failures;
  stats_.timeouts += late ? 1 : 0;
  lost_ = true;
  changed_.notify_all();
  return Outcome::kFailed;
}

}  // namespace quire
