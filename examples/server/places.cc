// SPDX-License-Identifier: Apache-2.0
#include "places.h"

#include <string>

#include "api_error.h"

namespace server {

std::shared_ptr<void> Places::take() {
  {
    const std::lock_guard lock(mutex_);
    if (taken_ == most_) {
      throw ApiError(429,
                     "all " + std::to_string(most_) + " places for requests are taken; try later",
                     "rate_limit_exceeded");
    }
    ++taken_;
  }
  return {this, [](Places* places) { places->give_back(); }};
}

std::int64_t Places::taken() const {
  const std::lock_guard lock(mutex_);
  return taken_;
}

bool Places::wait_until_free(std::chrono::milliseconds most) {
  std::unique_lock lock(mutex_);
  return freed_.wait_for(lock, most, [&] { return taken_ == 0; });
}

void Places::give_back() {
  const std::lock_guard lock(mutex_);
  if (--taken_ == 0) freed_.notify_all();
}

}  // namespace server
