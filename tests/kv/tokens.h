// SPDX-License-Identifier: Apache-2.0
// Made-up tokens for cache tests: each is a number from which its queries, keys and values follow,
// so that a history of a cache is a list of numbers.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/thread_pool.h"

namespace quire::testing {

using History = std::vector<std::uint64_t>;

constexpr std::int64_t kGroup = 3;  // query heads of a kv head
constexpr float kScale = 0.3F;

enum class Part : std::uint8_t { kQuery, kKey, kValue };

// One token's row in a layer, float32: kv heads (times kGroup for queries) by head_dim.
std::vector<float> row_of(std::uint64_t token, std::int64_t layer, Part part, const KvLayer& shape);

struct PassOptions {
  float softcap = 0;
  ThreadPool* threads = nullptr;
};

// What every layer's attention wrote, [layers][tokens][heads][dims] in one row.
using Outputs = std::vector<float>;

// A whole pass: prepare, attend, commit.
Outputs append(KvCache& cache, const KvSpec& spec, std::span<const std::uint64_t> tokens,
               const PassOptions& options = {});

// The pass without its end.
Outputs append_without_commit(KvCache& cache, const KvSpec& spec,
                              std::span<const std::uint64_t> tokens,
                              const PassOptions& options = {});

// `count` tokens that follow from `seed`.
History make_tokens(std::uint64_t seed, std::int64_t count);

}  // namespace quire::testing
