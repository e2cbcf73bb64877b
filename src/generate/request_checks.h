// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/request.h>
#include <quire/token.h>

#include <cstdint>
#include <span>
#include <string_view>

namespace quire {

// Throw Error kInvalidArgument, naming the field: a request that contradicts itself, and ids beyond
// the vocabulary.
void check_request(const Request& request, bool streamed);
void check_ids(std::span<const TokenId> ids, std::int64_t vocab, std::string_view field);

}  // namespace quire
