// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

namespace server {

// The requests that may run or wait at once. A generator has a queue of its own, but says that it
// is full only when a request has come that far: too late to answer 429 to who wants a stream.
//
// Thread-safety: internally synchronised. Must outlive what it gives out.
class Places {
 public:
  explicit Places(std::int64_t most) : most_(most) {}

  // One place, given back when the last copy goes. Throws ApiError 429 when there is none.
  std::shared_ptr<void> take();

  std::int64_t taken() const;

  // Waits until all are free, at most so long. False if they are not.
  bool wait_until_free(std::chrono::milliseconds most);

 private:
  void give_back();

  const std::int64_t most_;
  mutable std::mutex mutex_;
  std::condition_variable freed_;
  std::int64_t taken_ = 0;
};

}  // namespace server
