// SPDX-License-Identifier: Apache-2.0
#include "text/word_piece.h"

#include <quire/error.h>

#include <utility>

#include "text/utf8.h"

namespace quire {

namespace {

TokenId unknown_id(const Vocabulary& vocabulary, const std::string& unk_token,
                   const std::string& subject) {
  const TokenId id = vocabulary.find(unk_token);
  if (id == Vocabulary::kNone) {
    throw Error(ErrorCode::kInvalidArgument, subject,
                "unk_token '" + unk_token + "' is not in vocab, and the text needs it");
  }
  return id;
}

}  // namespace

WordPiece::WordPiece(std::shared_ptr<const Vocabulary> vocabulary, Options options,
                     std::string subject)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      subject_(std::move(subject)) {}

void WordPiece::tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const {
  const std::size_t first = out.size();
  bool covered = count_characters(piece) <= options_.max_input_chars_per_word;
  std::string candidate;
  for (std::size_t at = 0; covered && at < piece.size();) {
    TokenId id = Vocabulary::kNone;
    std::size_t end = piece.size();
    candidate.assign(at > 0 ? options_.continuing_subword_prefix : "").append(piece.substr(at));
    while (true) {
      id = vocabulary_->find(candidate);
      if (id != Vocabulary::kNone && !scratch.bars(id)) break;
      const std::size_t shorter = previous_character(piece, end);
      if (shorter <= at) break;
      candidate.resize(candidate.size() - (end - shorter));
      end = shorter;
    }
    covered = id != Vocabulary::kNone && !scratch.bars(id);
    out.push_back(id);
    at = end;
  }
  if (covered) return;
  out.resize(first);
  out.push_back(unknown_id(*vocabulary_, options_.unk_token, subject_));
}

WordLevel::WordLevel(std::shared_ptr<const Vocabulary> vocabulary, std::string unk_token,
                     std::string subject)
    : vocabulary_(std::move(vocabulary)),
      unk_token_(std::move(unk_token)),
      subject_(std::move(subject)) {}

void WordLevel::tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const {
  const TokenId id = vocabulary_->find(piece);
  out.push_back(id != Vocabulary::kNone && !scratch.bars(id)
                    ? id
                    : unknown_id(*vocabulary_, unk_token_, subject_));
}

}  // namespace quire
