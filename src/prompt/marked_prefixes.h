// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/prompt_cache.h>

#include <chrono>
#include <cstdint>
#include <span>

namespace quire {

// What lies before marks in messages, in a PromptCache. Such entries are found whole: one serves a
// text that begins with all of it.
struct MarkedPrefixes {
  // The longest one that `ids` begin with; none if there is none. Its time to live starts anew.
  static Snapshot longest(PromptCache& cache, const PrefixModel& model, const PrefixScope& scope,
                          std::span<const TokenId> ids);

  // Keeps one for `ttl`.
  static void put(PromptCache& cache, Snapshot snapshot, std::chrono::milliseconds ttl);

  // Why the prefix `ids` is not there: kCold, kExpired or kEvicted.
  static MissReason why_gone(PromptCache& cache, const PrefixModel& model, const PrefixScope& scope,
                             std::span<const TokenId> ids);
};

}  // namespace quire
