// SPDX-License-Identifier: Apache-2.0
// A fixed set of workers that run one function together, in parts. Workers poll for a fraction of
// a millisecond between runs, then sleep.
//
// The parts of a run are claimed, not assigned: a thread that is late (asleep, or without a core
// on a busy machine) delays nobody, because those that are there do its part.
//
// Results must not depend on the number of parts: split over independent outputs, never over a
// sum.
//
// Thread-safety: run() may be called from any thread; callers of one pool take turns. A run
// inside a run of the same pool does its parts one after the other on the calling thread. Runs of
// two pools may be nested, but not each in the other. In a process that was forked from the one
// that made a pool there are no workers: runs do all their parts on the calling thread.
#pragma once

#include <quire/export.h>

#include <cstdint>
#include <memory>

namespace quire {

class QUIRE_EXPORT ThreadPool {
 public:
  // `threads` workers in all, the caller of run() included; 0: one a core. Fewer when the system
  // refuses to start as many. Throws std::bad_alloc.
  explicit ThreadPool(int threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  int size() const noexcept;

  // Calls work(part, size()) once for each part, part 0 on this thread, and returns when all have
  // ended. When a part throws, the others still end, then the first exception is rethrown here.
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
