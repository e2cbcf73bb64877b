// SPDX-License-Identifier: Apache-2.0
// The attention that caches are judged by: everything in double, from a history of tokens, with no
// cache at all.
#pragma once

#include <quire/kv_cache.h>

#include <cstdint>
#include <span>
#include <vector>

#include "tests/kv/tokens.h"

namespace quire::testing {

// How a quantised cache keeps what it has coded: pages but the first, once `residual` tokens from
// the page's start on are here.
struct Coding {
  int bits = 0;  // 0: nothing is coded
  std::int64_t group = 32;
  std::int64_t residual = 32;
};

// The output of one layer for the token at `position`, [heads][dims]: keys and values are rounded
// to the spec's dtype, or coded.
std::vector<double> naive_attention(const KvSpec& spec, std::int64_t layer,
                                    std::span<const std::uint64_t> history, std::int64_t position,
                                    float softcap = 0, const Coding& coding = {});

}  // namespace quire::testing
