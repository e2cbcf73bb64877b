// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <list>
#include <mutex>
#include <optional>

namespace quire {

// Lets requests in, first come, first served, as long as there are places; the rest wait in a queue
// of bounded length. Nobody passes somebody who waits, however few places it needs.
//
// Thread-safety: may be used from any thread.
class Admission {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  Admission(std::int64_t places, std::int64_t queue) : free_(places), all_(places), most_(queue) {}

  // Places held, given back when it goes. Must not outlive the Admission.
  class Seat {
   public:
    // Waits for `places`, or for all there are if that is fewer, until the deadline: then it holds
    // none. Throws Error kOverloaded when the queue is full.
    Seat(Admission& admission, std::int64_t places, const Deadline& deadline);
    ~Seat();
    Seat(const Seat&) = delete;
    Seat& operator=(const Seat&) = delete;

    bool granted() const { return held_ > 0; }

   private:
    Admission& admission_;
    std::int64_t held_ = 0;
  };

 private:
  struct Waiting {
    std::int64_t places;
    bool admitted = false;
    std::condition_variable wake = {};
  };

  void admit();

  std::mutex mutex_;
  std::list<Waiting*> queue_;
  std::int64_t free_;
  const std::int64_t all_;
  const std::int64_t most_;
};

}  // namespace quire
