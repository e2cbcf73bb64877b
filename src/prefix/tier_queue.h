// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "io/worker_thread.h"
#include "kv/shared_blocks.h"

namespace quire {

// Blocks on their way to a tier. The pages are shared with whoever else holds them, not copied.
struct TierJob {
  BlockKey space;
  std::int64_t block_size;
  TokenIds tokens;     // the text up to the end of the last block
  std::int64_t first;  // number of the first block
  std::vector<BlockPages> blocks;
  std::chrono::milliseconds ttl;

  TierText text() const { return {space, block_size, tokens}; }
};

// Writes to one tier in the background, in the order it was asked to.
//
// Thread-safety: internally synchronised.
class TierQueue {
 public:
  using Done = std::function<void(const TierJob& job, std::int64_t stored)>;

  // `done` is called on the queue's thread. Takes jobs while those that wait hold less than
  // max_bytes of pages: it never holds more than that and one job.
  TierQueue(std::shared_ptr<PageTier> tier, std::int64_t max_bytes, Done done);
  ~TierQueue();  // finishes what waits

  bool push(TierJob job);  // false: full
  void flush();            // waits until all that was pushed before is done

  // False in a process that was forked from the one that made it: there the tier, whose files and
  // sockets are the parent's, must be left alone, and the queue takes nothing.
  bool is_here() const { return thread_->is_here(); }

  PageTier& tier() const { return *tier_; }

 private:
  void work();
  void store(const TierJob& job) noexcept;

  const std::shared_ptr<PageTier> tier_;
  const std::int64_t max_bytes_;
  const Done done_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<TierJob> jobs_;
  std::int64_t bytes_ = 0;
  std::int64_t pushed_ = 0;
  std::int64_t finished_ = 0;
  bool stopping_ = false;
  std::optional<WorkerThread> thread_;
};

}  // namespace quire
