// SPDX-License-Identifier: Apache-2.0
#include "kernels/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace quire {
namespace {

// How long a waiting thread polls before it sleeps in the kernel.
constexpr int kSpins = 2000;

void relax() {
#if defined(__x86_64__)
  _mm_pause();
#else
  std::this_thread::yield();
#endif
}

// Waits until `value` differs from `old`: polls for a while, then sleeps.
template <typename T>
void await_change(const std::atomic<T>& value, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
    relax();
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace

struct ThreadPool::Impl {
  std::mutex run_mutex;
  std::vector<std::thread> workers;
  int parts = 1;

  // One run: published by a new generation, finished when `pending` is zero.
  alignas(64) std::atomic<std::uint32_t> generation{0};
  alignas(64) std::atomic<int> pending{0};
  const void* work = nullptr;
  void (*call)(const void*, int, int) = nullptr;
  bool stop = false;

  void loop(int part) {
    std::uint32_t seen = 0;
    while (true) {
      await_change(generation, seen);
      ++seen;
      if (stop) return;
      call(work, part, parts);
      if (pending.fetch_sub(1, std::memory_order_acq_rel) == 1) pending.notify_one();
    }
  }

  void publish() {
    generation.fetch_add(1, std::memory_order_release);
    generation.notify_all();
  }
};

ThreadPool::ThreadPool(int threads) : impl_(std::make_unique<Impl>()) {
  if (threads <= 0) threads = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  impl_->parts = threads;
  impl_->workers.reserve(static_cast<std::size_t>(threads - 1));
  for (int part = 1; part < threads; ++part) {
    impl_->workers.emplace_back([impl = impl_.get(), part] { impl->loop(part); });
  }
}

ThreadPool::~ThreadPool() {
  impl_->stop = true;
  impl_->publish();
  for (std::thread& worker : impl_->workers) worker.join();
}

int ThreadPool::size() const noexcept { return impl_->parts; }

void ThreadPool::run_erased(const void* work, void (*call)(const void*, int, int)) {
  std::lock_guard lock(impl_->run_mutex);
  impl_->work = work;
  impl_->call = call;
  impl_->pending.store(impl_->parts - 1, std::memory_order_relaxed);
  impl_->publish();
  call(work, 0, impl_->parts);
  for (int left = impl_->pending.load(std::memory_order_acquire); left != 0;
       left = impl_->pending.load(std::memory_order_acquire)) {
    await_change(impl_->pending, left);
  }
}

Slice slice_of(std::int64_t count, std::int64_t grain, int part, int parts) {
  const std::int64_t grains = (count + grain - 1) / grain;
  const std::int64_t first = grains * part / parts * grain;
  const std::int64_t last = grains * (part + 1) / parts * grain;
  return {std::min(first, count), std::min(last, count)};
}

}  // namespace quire
