// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/result.h>
#include <quire/token.h>

#include <cstdint>
#include <span>

namespace quire {

// How much of a request is held, and why it is no more.
struct CommonPrefix {
  std::int64_t tokens = 0;
  WhyNotMore why;
};

// The longest common prefix of what is held and what is wanted, cut to `most` tokens of the latter
// (all but the last one, or all where its logits are known), beyond which nothing is missed.
CommonPrefix common_prefix(std::span<const TokenId> held, std::span<const TokenId> wanted,
                           std::int64_t most);

}  // namespace quire
