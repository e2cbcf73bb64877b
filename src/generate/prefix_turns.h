// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prefix_scope.h>
#include <quire/token.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace quire {

// Keeps requests whose prompts begin alike from computing the same pages side by side: the first
// one computes them, the others wait until its prompt has been read, then find them in the prefix
// cache. Nobody waits for less than a page.
//
// Thread-safety: may be used from any thread.
class PrefixTurns {
 public:
  using Deadline = std::optional<std::chrono::steady_clock::time_point>;

  // `block_size`: tokens a page of the prefix cache.
  explicit PrefixTurns(std::int64_t block_size) : block_size_(block_size) {}

  // A request from before its look-up until its prompt has been read. Must not outlive the
  // PrefixTurns, the prompt and the scope.
  class Turn {
   public:
    // Waits, at most until the deadline. Unless it `provides` its pages, nobody waits for it.
    Turn(PrefixTurns& turns, std::span<const TokenId> prompt, const PrefixScope& scope,
         bool provides, const Deadline& deadline);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    // The first `tokens` were known, so they are not being computed.
    void reuses(std::int64_t tokens);

    // Somebody waits for the pages.
    bool awaited() const;

    // The pages are where others find them, or will not be.
    void end();

   private:
    friend class PrefixTurns;
    PrefixTurns& turns_;
    std::span<const TokenId> prompt_;
    const PrefixScope& scope_;
    std::int64_t reused_ = 0;
  };

 private:
  // The first request that computes a page which this one needs; null: none.
  const Turn* provider(const Turn& turn) const;

  const std::int64_t block_size_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Turn*> providers_;
  std::vector<const Turn*> waiting_;
};

}  // namespace quire
