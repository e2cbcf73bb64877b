// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/clock_jump.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>

namespace quire::faults {
namespace {

std::atomic<clockid_t> watched{-1};  // -1: none
std::atomic<int> left{0};            // looks up to and including the one that sees the jump
std::atomic<time_t> jump{0};         // seconds
std::atomic<time_t> wall_ahead{0};
std::atomic<time_t> steady_ahead{0};

void look(clockid_t clock) {
  if (clock != watched || left.fetch_sub(1) != 1) return;
  (clock == CLOCK_REALTIME ? wall_ahead : steady_ahead) += jump;
}

time_t ahead(clockid_t clock) {
  if (clock == CLOCK_REALTIME) return wall_ahead;
  return clock == CLOCK_MONOTONIC ? steady_ahead.load() : 0;
}

// What the system calls it.
timespec real_time(clockid_t clock, const timespec* time) {
  return {time->tv_sec - ahead(clock), time->tv_nsec};
}

}  // namespace

ClockJump::ClockJump(clockid_t clock, std::chrono::seconds by, int n) {
  jump = by.count();
  left = n;
  watched = clock;
}

ClockJump::~ClockJump() {
  watched = -1;
  wall_ahead = 0;
}

bool ClockJump::struck() const { return left <= 0; }

}  // namespace quire::faults

#pragma GCC visibility push(default)
extern "C" {

int clock_gettime(clockid_t clock, timespec* time) {
  quire::faults::look(clock);
  const auto failed = static_cast<int>(::syscall(SYS_clock_gettime, clock, time));
  time->tv_sec += quire::faults::ahead(clock);
  return failed;
}

int pthread_cond_clockwait(pthread_cond_t* changed, pthread_mutex_t* mutex, clockid_t clock,
                           const timespec* until) {
  static const auto real = reinterpret_cast<decltype(&pthread_cond_clockwait)>(
      ::dlsym(RTLD_NEXT, "pthread_cond_clockwait"));
  const timespec time = quire::faults::real_time(clock, until);
  return real(changed, mutex, clock, &time);
}

int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock, const timespec* until) {
  static const auto real = reinterpret_cast<decltype(&pthread_mutex_clocklock)>(
      ::dlsym(RTLD_NEXT, "pthread_mutex_clocklock"));
  const timespec time = quire::faults::real_time(clock, until);
  return real(mutex, clock, &time);
}

}  // extern "C"
#pragma GCC visibility pop
