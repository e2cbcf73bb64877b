// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <time.h>

#include <chrono>

namespace quire::faults {

// From the n-th look at a clock on, it is later or earlier than it was, for the whole program. The
// wall clock is right again when this is gone; a steady clock (CLOCK_MONOTONIC) never goes back,
// and so GoogleTest counts hours. Only one at a time.
class ClockJump {
 public:
  ClockJump(clockid_t clock, std::chrono::seconds by, int n);
  ~ClockJump();
  ClockJump(const ClockJump&) = delete;
  ClockJump& operator=(const ClockJump&) = delete;

  bool struck() const;  // whether there were n looks
};

}  // namespace quire::faults
