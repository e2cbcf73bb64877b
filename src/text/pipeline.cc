// SPDX-License-Identifier: Apache-2.0
#include "text/pipeline.h"

#include <quire/error.h>

#include <algorithm>
#include <utility>

#include "text/utf8.h"

namespace quire {

std::string StreamingTokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  DecodingChain chain(decoder());
  for (const TokenId id : ids) {
    if (const auto piece = decoded_token(id, options)) chain.token(*piece);
  }
  chain.finish();
  return chain.take();
}

PipelineTokenizer::PipelineTokenizer(TokenizerParts parts) : parts_(std::move(parts)) {
  vocab_size_ = parts_.vocabulary->end();
  for (const AddedToken& token : parts_.added.tokens()) {
    vocab_size_ = std::max(vocab_size_, static_cast<std::size_t>(token.id) + 1);
  }
  parts_.special.resize(vocab_size_, false);
  for (const AddedToken& token : parts_.added.tokens()) {
    if (token.special) parts_.special[static_cast<std::size_t>(token.id)] = true;
  }
}

TokenIds PipelineTokenizer::encode(std::string_view text, EncodeOptions options) const {
  const auto scratch = parts_.model->make_scratch();
  TokenIds ids = encode_text(text, options, *scratch);
  return options.add_special ? parts_.post_processor.apply(std::move(ids)) : ids;
}

std::vector<std::string> PipelineTokenizer::pieces(std::string_view text,
                                                   EncodeOptions options) const {
  if (options.add_special) return Tokenizer::pieces(text, options);
  std::vector<std::string> surfaces;
  const auto scratch = parts_.model->make_scratch();
  scratch->surfaces = &surfaces;
  encode_text(text, options, *scratch);
  return surfaces;
}

TokenIds PipelineTokenizer::encode_text(std::string_view text, const EncodeOptions& options,
                                        TextModel::Scratch& scratch) const {
  std::string repaired;
  if (!is_valid_utf8(text)) {
    repaired = to_valid_utf8(text);
    text = repaired;
  }
  if (!options.parse_special) scratch.barred = &parts_.special;
  TokenIds ids;
  const auto stage = AddedTokens::Stage::kRaw;
  for (const AddedPart& part : parts_.added.cut(text, stage, options.parse_special)) {
    if (part.id) {
      encode_added(part, text, scratch, ids);
    } else {
      encode_part(text.substr(part.begin, part.end - part.begin), part.begin == 0, options, scratch,
                  ids);
    }
  }
  return ids;
}

void PipelineTokenizer::encode_added(const AddedPart& part, std::string_view text,
                                     TextModel::Scratch& scratch, TokenIds& out) const {
  out.push_back(*part.id);
  if (scratch.surfaces == nullptr) return;
  scratch.surfaces->emplace_back(text.substr(part.begin, part.end - part.begin));
}

void PipelineTokenizer::encode_part(std::string_view text, bool at_start,
                                    const EncodeOptions& options, TextModel::Scratch& scratch,
                                    TokenIds& out) const {
  std::string rewritten;
  if (parts_.normalizer) {
    rewritten = parts_.normalizer->normalize(std::string(text));
    text = rewritten;
  }
  const auto stage = AddedTokens::Stage::kNormalized;
  for (const AddedPart& part : parts_.added.cut(text, stage, options.parse_special)) {
    if (part.id) {
      encode_added(part, text, scratch, out);
    } else {
      encode_pieces(text.substr(part.begin, part.end - part.begin), at_start && part.begin == 0,
                    scratch, out);
    }
  }
}

void PipelineTokenizer::encode_pieces(std::string_view text, bool at_start,
                                      TextModel::Scratch& scratch, TokenIds& out) const {
  Pieces pieces(std::string(text), at_start);
  for (const auto& step : parts_.pre_tokenizers) step->apply(pieces);
  for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
    scratch.at_start = i == 0 && pieces.first_at_start;
    parts_.model->tokenize(pieces[i], scratch, out);
    if (scratch.surfaces == nullptr) continue;
    while (scratch.surfaces->size() < out.size()) {
      scratch.surfaces->push_back(token(out[scratch.surfaces->size()]));
    }
  }
}

void PipelineTokenizer::check(TokenId id) const {
  if (id >= 0 && static_cast<std::size_t>(id) < vocab_size_) return;
  throw Error(ErrorCode::kInvalidArgument, parts_.subject,
              "token id " + std::to_string(id) + " is outside the vocabulary of " +
                  std::to_string(vocab_size_));
}

std::optional<std::string_view> PipelineTokenizer::find(TokenId id) const {
  if (const AddedToken* added = parts_.added.find(id)) return added->content;
  if (parts_.vocabulary->holds(id)) return parts_.vocabulary->piece(id);
  return std::nullopt;
}

std::string PipelineTokenizer::token(TokenId id) const {
  check(id);
  const auto piece = find(id);
  if (!piece) {
    throw Error(ErrorCode::kInvalidArgument, parts_.subject,
                "token id " + std::to_string(id) + " is a gap in the vocabulary");
  }
  return std::string(*piece);
}

std::optional<TokenId> PipelineTokenizer::id_of(std::string_view piece) const {
  if (const AddedToken* added = parts_.added.find(piece)) return added->id;
  const TokenId id = parts_.vocabulary->find(piece);
  return id == Vocabulary::kNone ? std::nullopt : std::optional(id);
}

bool PipelineTokenizer::is_special(TokenId id) const {
  check(id);
  return parts_.special[static_cast<std::size_t>(id)];
}

bool PipelineTokenizer::adds_bos() const {
  return parts_.bos && parts_.post_processor.first() == parts_.bos;
}

std::optional<std::string_view> PipelineTokenizer::decoded_token(TokenId id,
                                                                 DecodeOptions options) const {
  check(id);
  if (options.skip_special && parts_.special[static_cast<std::size_t>(id)]) return std::nullopt;
  if (const AddedToken* added = parts_.added.find(id)) return added->text();
  return find(id);
}

}  // namespace quire
