// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace quire {

// An index into a model's vocabulary. Never negative in valid data; signed because files and
// tensors hold it signed.
using TokenId = std::int32_t;

using TokenIds = std::vector<TokenId>;

}  // namespace quire
