// SPDX-License-Identifier: Apache-2.0
// A GGUF file's vocabulary as the files that Hugging Face tokenizers are made of. Token ids stay
// equal; where GGUF ranks merges by the scores of their results, the ranks are derived from them.
//
// Errors: kUnsupported (a kind of tokenizer that no decoder has), kCorrupt; both name the key.
// Thread-safety: functions of their arguments.
#pragma once

#include <quire/tokenizer.h>

#include <cstdint>
#include <string>

#include "formats/gguf.h"
#include "io/json.h"

namespace quire {

// tokenizer.json. `tokenizer` is the file's own.
std::string tokenizer_json_of(const GgufFile& file, const Tokenizer& tokenizer);

// tokenizer_config.json: names of special tokens, and the chat templates.
Json tokenizer_config_of(const GgufFile& file, std::int64_t context);

}  // namespace quire
