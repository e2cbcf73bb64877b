// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>
#include <vector>

#include "text/pipeline.h"
#include "text/tokenizer_config.h"

namespace quire {

// A tokenizer.model file: pieces and normalisation of sentencepiece, which encodes; added tokens
// and special tokens of tokenizer_config.json around it. BOS is put first unless the config says
// otherwise.
//
// The file is checked here before sentencepiece sees it, because that ends the process over some
// broken ones: wire format, pieces (UTF-8, not empty, unique), scores, one unknown piece, the
// normalisation table. Throws Error kCorrupt, kUnsupported.
//
// Thread-safety: functions without state.
TokenizerParts read_sentencepiece(const std::filesystem::path& file, const TokenizerConfig& config);

// What is read of the protobuf.
struct SentencePieceModel {
  enum Type : std::uint8_t { kNormal = 1, kUnknown, kControl, kUserDefined, kUnused, kByte };
  struct Piece {
    std::string_view text;
    Type type;
  };
  std::vector<Piece> pieces;
  std::string_view bos_piece = "<s>";
  std::string_view eos_piece = "</s>";
  std::string_view unk_surface = " \xE2\x81\x87 ";
  bool add_dummy_prefix = true;
  bool remove_extra_whitespaces = true;
};

// Views lie in `bytes`. Throws Error kCorrupt.
SentencePieceModel parse_sentencepiece_model(std::string_view bytes, const std::string& subject);

// Decoding as sentencepiece does it: ▁ to spaces, the one put in front removed, byte pieces to
// characters, one U+FFFD for each byte that belongs to none.
std::unique_ptr<const DecoderStep> sentencepiece_step(const SentencePieceModel& model);

}  // namespace quire
