// SPDX-License-Identifier: Apache-2.0
#include "prefix/tier_queue.h"

#include <exception>
#include <utility>

namespace quire {
namespace {

std::int64_t bytes_of(const TierJob& job) {
  std::int64_t total = 0;
  for (const BlockPages& pages : job.blocks) total += SharedBlocks::bytes(pages);
  return total;
}

}  // namespace

TierQueue::TierQueue(std::shared_ptr<PageTier> tier, std::int64_t max_bytes, Done done)
    : tier_(std::move(tier)), max_bytes_(max_bytes), done_(std::move(done)) {
  thread_.emplace([this] { work(); });
}

TierQueue::~TierQueue() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.reset();
}

bool TierQueue::push(TierJob job) {
  if (!is_here()) return false;
  {
    const std::lock_guard lock(mutex_);
    if (bytes_ >= max_bytes_) return false;
    const std::int64_t bytes = bytes_of(job);
    jobs_.push_back(std::move(job));
    bytes_ += bytes;  // not before: push_back may fail
    ++pushed_;
  }
  changed_.notify_all();
  return true;
}

void TierQueue::flush() {
  if (!is_here()) return;
  std::unique_lock lock(mutex_);
  const std::int64_t until = pushed_;
  changed_.wait(lock, [&] { return finished_ >= until; });
}

void TierQueue::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !jobs_.empty(); });
    if (jobs_.empty()) return;
    TierJob job = std::move(jobs_.front());
    jobs_.pop_front();
    lock.unlock();
    store(job);
    const std::int64_t bytes = bytes_of(job);
    job = {};
    lock.lock();
    bytes_ -= bytes;
    ++finished_;
    changed_.notify_all();
  }
}

void TierQueue::store(const TierJob& job) noexcept {
  std::int64_t stored = 0;
  try {
    std::vector<SharedBlocks::HostPages> host;
    std::vector<BlockBytes> bytes;
    for (const BlockPages& pages : job.blocks) {
      host.push_back(SharedBlocks::on_host(pages));
      bytes.push_back({host.back().bytes});
    }
    stored = tier_->store(job.text(), job.first, bytes, job.ttl);
  } catch (const std::exception&) {
    // A tier of the application's, or no memory: nothing is stored.
  }
  try {
    done_(job, stored);
  } catch (const std::exception&) {
  }
}

}  // namespace quire
