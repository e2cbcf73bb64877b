// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
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

// What else the name of a pre-tokenizer says.
struct GgufPre {
  bool ignore_merges = false;
  bool add_bos = false;
  bool add_sep = false;
};

// The splits that llama.cpp calls `name`: each pattern isolates its matches within the pieces of
// the one before. Static storage. Throws Error kUnsupported naming it.
struct GgufSplits {
  std::span<const char* const> patterns;
  GgufPre flags;
};
GgufSplits find_gguf_splits(std::string_view name, const std::string& subject);

// Appends these splits as steps.
GgufPre read_gguf_pre(std::string_view name, const std::string& subject, PreTokenizers& steps);

}  // namespace quire
