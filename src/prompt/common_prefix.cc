// SPDX-License-Identifier: Apache-2.0
#include "prompt/common_prefix.h"

#include <algorithm>

namespace quire {

CommonPrefix common_prefix(std::span<const TokenId> held, std::span<const TokenId> wanted,
                           std::int64_t most) {
  const auto [h, w] = std::mismatch(held.begin(), held.end(), wanted.begin(), wanted.end());
  CommonPrefix common;
  common.tokens = w - wanted.begin();
  if (common.tokens >= most) {
    common.tokens = most;
    common.why.reason = MissReason::kNone;
    return common;
  }
  common.why.at = common.tokens;
  if (held.empty()) {
    common.why.reason = MissReason::kCold;
  } else if (h == held.end()) {
    common.why.reason = MissReason::kEndOfStored;
  } else {
    common.why.reason = MissReason::kDiverged;
    common.why.had = *h;
    if (w != wanted.end()) common.why.got = *w;
  }
  return common;
}

}  // namespace quire
