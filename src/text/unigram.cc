// SPDX-License-Identifier: Apache-2.0
#include "text/unigram.h"

#include <quire/error.h>

#include <algorithm>
#include <utility>

#include "text/byte_tokens.h"
#include "text/utf8.h"

namespace quire {

namespace {

constexpr double kUnknownPenalty = 10.0;
constexpr std::size_t kUnreached = std::string_view::npos;

}  // namespace

Unigram::Unigram(std::shared_ptr<const Vocabulary> vocabulary, std::vector<double> scores,
                 Options options, std::string subject)
    : vocabulary_(std::move(vocabulary)),
      scores_(std::move(scores)),
      options_(options),
      subject_(std::move(subject)),
      unk_score_(*std::min_element(scores_.begin(), scores_.end()) - kUnknownPenalty),
      trie_(*vocabulary_),
      byte_ids_(byte_token_ids(*vocabulary_)) {}

TokenId Unigram::unk() const {
  if (!options_.unk_id) {
    throw Error(ErrorCode::kInvalidArgument, subject_, "there is no unk_id, and the text needs it");
  }
  return *options_.unk_id;
}

std::vector<Unigram::Node> Unigram::best_path(std::string_view piece,
                                              const Scratch& scratch) const {
  std::vector<Node> nodes(piece.size() + 1, Node{0.0, kUnreached, Vocabulary::kNone});
  const auto offer = [&](std::size_t begin, std::size_t end, TokenId id, double score) {
    Node& node = nodes[end];
    const double total = score + nodes[begin].score;
    if (node.begin == kUnreached || total > node.score) node = {total, begin, id};
  };
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t character = character_at(piece, at).length;
    bool has_single = false;
    trie_.each_prefix(piece.substr(at), [&](TokenId id, std::size_t length) {
      if (scratch.bars(id)) return;
      offer(at, at + length, id, scores_[static_cast<std::size_t>(id)]);
      has_single = has_single || length == character;
    });
    if (!has_single) offer(at, at + character, unk(), unk_score_);
    at += character;
  }
  return nodes;
}

void Unigram::add(std::string_view token, const Scratch& scratch, TokenIds& out) const {
  const auto put = [&](TokenId id, std::string_view spelled) {
    out.push_back(id);
    if (scratch.surfaces != nullptr) scratch.surfaces->emplace_back(spelled);
  };
  if (const TokenId id = vocabulary_->find(token); id != Vocabulary::kNone && !scratch.bars(id)) {
    return put(id, token);
  }
  const auto byte_id = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  const bool as_bytes = options_.byte_fallback &&
                        std::all_of(token.begin(), token.end(),
                                    [&](char byte) { return byte_id(byte) != Vocabulary::kNone; });
  if (as_bytes) {
    for (const char byte : token) put(byte_id(byte), vocabulary_->piece(byte_id(byte)));
  } else {
    put(unk(), token);
  }
}

void Unigram::tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const {
  const std::vector<Node> nodes = best_path(piece, scratch);
  std::vector<std::string_view> tokens;  // last first
  bool last_unknown = false;
  for (std::size_t end = piece.size(); end > 0;) {
    const Node& node = nodes[end];
    const bool unknown = options_.unk_id && node.id == *options_.unk_id;
    std::string_view token = piece.substr(node.begin, end - node.begin);
    if (unknown && last_unknown) {
      token = piece.substr(node.begin, token.size() + tokens.back().size());
      tokens.pop_back();
    }
    tokens.push_back(token);
    last_unknown = unknown;
    end = node.begin;
  }
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) add(*token, scratch, out);
}

}  // namespace quire
