// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "text/vocabulary.h"

namespace quire {

// Byte fallback: tokens spelled <0x00> … <0xFF> that stand for bytes no other token holds.
//
// Thread-safety: functions without state.

// The id of each byte's token, Vocabulary::kNone where there is none.
std::array<TokenId, 256> byte_token_ids(const Vocabulary& vocabulary);

// The byte that `piece` spells in that way (digits of either case), -1 if none.
int byte_token_value(std::string_view piece);

}  // namespace quire
