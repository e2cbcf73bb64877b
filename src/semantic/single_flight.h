// SPDX-License-Identifier: Apache-2.0
// Equal work that is asked for at once runs once. When the one who does it fails, the next waiter
// does it: a failure is its own caller's, not everybody's.
//
// Thread-safety: all methods may be called concurrently.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace quire {

template <typename Value>
class SingleFlight {
 public:
  using Clock = std::chrono::steady_clock;

  struct Outcome {
    std::optional<Value> value;  // none: the deadline came first
    bool waited = false;
  };

  // `work()` gives an optional<Value>: none is an answer that only its own caller may have.
  template <typename Work>
  Outcome run(const std::string& key, std::optional<Clock::time_point> deadline, const Work& work) {
    std::unique_lock lock(mutex_);
    bool waited = false;
    while (true) {
      auto& place = flights_[key];
      if (!place) {
        place = std::make_shared<Flight>();
        const std::shared_ptr<Flight> own = place;
        lock.unlock();
        return {lead(key, own, work), false};
      }
      const std::shared_ptr<Flight> flight = place;
      waited = true;
      if (!wait(lock, *flight, deadline)) return {std::nullopt, waited};
      if (flight->value) return {flight->value, waited};
      // It failed: whoever comes first leads the next one.
    }
  }

 private:
  struct Flight {
    std::condition_variable landed;
    bool over = false;
    std::optional<Value> value;
  };

  static bool wait(std::unique_lock<std::mutex>& lock, Flight& flight,
                   std::optional<Clock::time_point> deadline) {
    const auto over = [&] { return flight.over; };
    if (deadline) return flight.landed.wait_until(lock, *deadline, over);
    flight.landed.wait(lock, over);
    return true;
  }

  template <typename Work>
  std::optional<Value> lead(const std::string& key, const std::shared_ptr<Flight>& flight,
                            const Work& work) {
    struct Landing {
      SingleFlight& of;
      const std::string& key;
      Flight& flight;
      std::optional<Value> value;
      ~Landing() {
        const std::lock_guard lock(of.mutex_);
        flight.value = std::move(value);
        flight.over = true;
        of.flights_.erase(key);
        flight.landed.notify_all();
      }
    } landing{*this, key, *flight, std::nullopt};
    auto [value, shared] = work();
    if (shared) landing.value = value;
    return std::move(value);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Flight>> flights_;
};

}  // namespace quire
