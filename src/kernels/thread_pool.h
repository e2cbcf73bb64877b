// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/export.h>

#include <cstdint>
#include <memory>
#include <type_traits>

namespace quire {

// A fixed set of workers that run one function together. run() is called by one thread at a time
// for a pool; that thread works too, as part 0. Workers spin briefly between runs, then sleep.
//
// Results must not depend on the number of parts: split over independent outputs, never over a sum.
//
// Thread-safety: run() locks; concurrent callers take turns.
class QUIRE_EXPORT ThreadPool {
 public:
  // `threads` workers in all, the caller of run() included; 0: one a core.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept;

  // Calls work(part, parts) once for each part, and returns when all have. `work` must not throw.
  template <typename Work>
  void run(const Work& work) {
    run_erased(&work, [](const void* w, int part, int parts) {
      (*static_cast<const Work*>(w))(part, parts);
    });
  }

 private:
  void run_erased(const void* work, void (*call)(const void*, int, int));

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The slice [first, last) of `count` items that belongs to `part`, in multiples of `grain`.
struct Slice {
  std::int64_t first;
  std::int64_t last;
};
Slice slice_of(std::int64_t count, std::int64_t grain, int part, int parts);

// Runs `work(part, parts)` on the pool, or inline as (0, 1) when there is none.
template <typename Work>
void run_on(ThreadPool* pool, const Work& work) {
  if (pool != nullptr && pool->size() > 1) {
    pool->run(work);
  } else {
    work(0, 1);
  }
}

}  // namespace quire
