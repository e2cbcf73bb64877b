// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "io/worker_thread.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quire {
namespace {

using std::chrono::steady_clock;

// A waiting thread polls, then polls but offers its core to others, then sleeps: not as soon as
// between two steps of an answer.
constexpr std::chrono::microseconds kPoll{10};
constexpr std::chrono::microseconds kPollAndYield{200};

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Waits until `value` is not `old` and returns what it is then.
template <typename T>
T await_change(const std::atomic<T>& value, T old) {
  const steady_clock::time_point start = steady_clock::now();
  while (true) {
    for (int i = 0; i < 16; ++i) {
      const T now = value.load(std::memory_order_acquire);
      if (now != old) return now;
      relax();
    }
    const steady_clock::duration waited = steady_clock::now() - start;
    if (waited > kPollAndYield) break;
    if (waited > kPoll) std::this_thread::yield();
  }
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

// The pools whose work this thread is doing, innermost first.
struct Frame {
  const void* pool;
  const Frame* outer;
};
thread_local const Frame* frames = nullptr;

class FrameScope {
 public:
  explicit FrameScope(const void* pool) : frame_{pool, frames} { frames = &frame_; }
  ~FrameScope() { frames = frame_.outer; }
  FrameScope(const FrameScope&) = delete;
  FrameScope& operator=(const FrameScope&) = delete;

 private:
  Frame frame_;
};

bool is_working_for(const void* pool) {
  for (const Frame* frame = frames; frame != nullptr; frame = frame->outer) {
    if (frame->pool == pool) return true;
  }
  return false;
}

}  // namespace

struct ThreadPool::Impl {
  // A ticket is the number of the run, in the high half, and of its parts that nobody has claimed.
  // Whoever lowers it by one owns part `parts - unclaimed`, and until that part is counted in
  // `unfinished` the run cannot end; so `work`, `call` and `parts` are read only in between. The
  // run's number merely makes every run a change to wait for: it may wrap.
  using Ticket = std::uint32_t;
  static constexpr Ticket kUnclaimed = 0xffff;
  static constexpr Ticket kRun = kUnclaimed + 1;

  std::mutex run_mutex;
  const ProcessMark mark;
  std::vector<WorkerThread> workers;
  int parts = 1;
  const void* work = nullptr;
  void (*call)(const void*, int, int) = nullptr;
  std::mutex error_mutex;
  std::exception_ptr error;
  std::atomic<bool> stop{false};

  alignas(64) std::atomic<Ticket> ticket{0};
  alignas(64) std::atomic<int> unfinished{0};

  // Also where the constructor of the pool fails half-way.
  ~Impl() {
    stop.store(true, std::memory_order_release);
    publish(0);
    workers.clear();
  }

  // Starts a run with all parts but the first to claim.
  void publish(int unclaimed) {
    const Ticket run = (ticket.load(std::memory_order_relaxed) & ~kUnclaimed) + kRun;
    ticket.store(run | static_cast<Ticket>(unclaimed), std::memory_order_release);
    ticket.notify_all();
  }

  void do_part(int part) {
    try {
      call(work, part, parts);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (error == nullptr) error = std::current_exception();
    }
    if (unfinished.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished.notify_one();
  }

  // Does parts as long as there are any; returns the ticket that has none.
  Ticket do_unclaimed() {
    Ticket now = ticket.load(std::memory_order_acquire);
    while ((now & kUnclaimed) != 0) {
      if (ticket.compare_exchange_weak(now, now - 1, std::memory_order_acq_rel,
                                       std::memory_order_acquire)) {
        do_part(parts - static_cast<int>(now & kUnclaimed));
        now = ticket.load(std::memory_order_acquire);
      }
    }
    return now;
  }

  void serve() {
    const FrameScope scope(this);
    while (true) {
      const Ticket idle = do_unclaimed();
      if (stop.load(std::memory_order_acquire)) return;
      await_change(ticket, idle);
    }
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  threads = std::clamp(threads, 1, static_cast<int>(Impl::kUnclaimed));
  impl_->workers.reserve(static_cast<std::size_t>(threads - 1));
  try {
    for (int i = 1; i < threads; ++i) {
      impl_->workers.emplace_back([impl = impl_.get()] { impl->serve(); });
    }
  } catch (const std::system_error&) {
    // No more threads to be had: go on with those that are there.
  }
  impl_->parts = static_cast<int>(impl_->workers.size()) + 1;
}

ThreadPool::~ThreadPool() = default;

int ThreadPool::size() const noexcept { return impl_->parts; }

void ThreadPool::run_erased(const void* work, void (*call)(const void*, int, int)) {
  Impl& impl = *impl_;
  if (is_working_for(&impl) || !impl.mark.is_here()) {
    for (int part = 0; part < impl.parts; ++part) call(work, part, impl.parts);
    return;
  }
  const std::lock_guard lock(impl.run_mutex);
  const FrameScope scope(&impl);
  impl.work = work;
  impl.call = call;
  impl.unfinished.store(impl.parts, std::memory_order_relaxed);
  impl.publish(impl.parts - 1);
  impl.do_part(0);
  impl.do_unclaimed();
  int left = impl.unfinished.load(std::memory_order_acquire);
  while (left != 0) left = await_change(impl.unfinished, left);
  if (impl.error != nullptr) std::rethrow_exception(std::exchange(impl.error, nullptr));
}

Slice slice_of(std::int64_t count, std::int64_t grain, int part, int parts) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t first = grains * part / parts * grain;
  const std::int64_t last = grains * (part + 1) / parts * grain;
  return {std::min(first, count), std::min(last, count)};
}

}  // namespace quire
