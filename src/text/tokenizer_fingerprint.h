// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/tokenizer.h>

#include <string>

namespace quire {

// XXH3-128 over every token's spelling and kind, and over the ids of a fixed text that shows how
// the tokenizer splits, merges and normalises. An id whose token() throws kInvalidArgument counts
// as a gap in the vocabulary.
std::string fingerprint_of(const Tokenizer& tokenizer);

}  // namespace quire
