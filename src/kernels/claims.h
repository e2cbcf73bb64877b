// SPDX-License-Identifier: Apache-2.0
// Items [0, count), which threads take piece by piece: a part of what is left, so that pieces are
// large as long as there is much and small in the end, where threads wait for each other.
//
// Thread-safety: next() may be called from any thread.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "kernels/thread_pool.h"

namespace quire {

class Claims {
 public:
  Claims(std::int64_t count, const ThreadPool* pool)
      : count_(count), shares_(pool == nullptr ? 1 : kSharesPerThread * pool->size()) {}

  // The next piece; an empty one when nothing is left.
  Slice next() noexcept {
    std::int64_t first = taken_.load(std::memory_order_relaxed);
    std::int64_t last = first;
    do {
      if (first >= count_) return {count_, count_};
      last = first + std::max<std::int64_t>(1, (count_ - first) / shares_);
    } while (!taken_.compare_exchange_weak(first, last, std::memory_order_relaxed));
    return {first, last};
  }

  // Calls work(row, first, last) for each piece of a table of `columns` columns, cut by rows.
  template <typename Work>
  void over_rows(std::int64_t columns, const Work& work) {
    for (Slice piece = next(); piece.first < piece.last; piece = next()) {
      while (piece.first < piece.last) {
        const std::int64_t column = piece.first % columns;
        const std::int64_t count = std::min(columns - column, piece.last - piece.first);
        work(piece.first / columns, column, column + count);
        piece.first += count;
      }
    }
  }

 private:
  static constexpr std::int64_t kSharesPerThread = 2;

  const std::int64_t count_;
  const std::int64_t shares_;
  std::atomic<std::int64_t> taken_{0};
};

}  // namespace quire
