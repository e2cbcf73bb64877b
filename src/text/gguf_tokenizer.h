// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "formats/gguf.h"
#include "text/pipeline.h"

namespace quire {

// The vocabulary in a GGUF file's metadata (tokenizer.ggml.*): model "gpt2" (byte-level BPE, its
// pre-tokeniser named by `pre`), "llama" (scores) or "bert" (WordPiece).
// Throws Error kUnsupported naming an unknown model or pre-tokeniser, kCorrupt naming the key.
//
// Thread-safety: functions without state.
TokenizerParts read_gguf_tokenizer(const GgufFile& file);

// Appends the steps that llama.cpp calls `name`. Throws Error kUnsupported naming it.
struct GgufPre {
  bool ignore_merges = false;
  bool add_bos = false;
  bool add_sep = false;
};
GgufPre read_gguf_pre(std::string_view name, const std::string& subject, PreTokenizers& steps);

}  // namespace quire
