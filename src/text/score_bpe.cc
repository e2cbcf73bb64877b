// SPDX-License-Identifier: Apache-2.0
#include "text/score_bpe.h"

#include <quire/error.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "text/byte_tokens.h"
#include "text/utf8.h"

namespace quire {

namespace {

constexpr std::uint32_t kNoSymbol = 0xFFFFFFFF;

struct Symbol {
  std::size_t begin;
  std::size_t length;  // 0: joined to its left neighbour
  std::uint32_t previous;
  std::uint32_t next;
};

struct Candidate {
  float score;
  std::uint32_t left;
  std::uint32_t right;
  std::size_t length;  // of both when offered: tells an outdated one
};

// For a heap with the highest score, then the leftmost pair, on top.
bool comes_later(const Candidate& a, const Candidate& b) {
  return a.score != b.score ? a.score < b.score : a.left > b.left;
}

}  // namespace

class ScoreBpe::Buffers final : public TextModel::Scratch {
 public:
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

ScoreBpe::ScoreBpe(std::shared_ptr<const Vocabulary> vocabulary, Options options,
                   std::string subject)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      subject_(std::move(subject)),
      byte_ids_(byte_token_ids(*vocabulary_)) {}

std::unique_ptr<TextModel::Scratch> ScoreBpe::make_scratch() const {
  return std::make_unique<Buffers>();
}

TokenId ScoreBpe::find(std::string_view piece) const {
  const TokenId id = vocabulary_->find(piece);
  return id != Vocabulary::kNone && options_.joins[static_cast<std::size_t>(id)]
             ? id
             : Vocabulary::kNone;
}

void ScoreBpe::join(std::string_view piece, Buffers& buffers) const {
  auto& symbols = buffers.symbols;
  auto& heap = buffers.heap;
  const auto offer = [&](std::uint32_t left) {
    const std::uint32_t right = symbols[left].next;
    const std::size_t length = symbols[left].length + symbols[right].length;
    const TokenId id = find(piece.substr(symbols[left].begin, length));
    if (id == Vocabulary::kNone) return false;
    heap.push_back({options_.scores[static_cast<std::size_t>(id)], left, right, length});
    return true;
  };
  for (std::uint32_t i = 0; i + 1 < symbols.size(); ++i) offer(i);
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const Candidate top = heap.back();
    heap.pop_back();
    Symbol& left = symbols[top.left];
    Symbol& right = symbols[top.right];
    if (left.length == 0 || right.length == 0 || left.length + right.length != top.length) continue;
    left.length = top.length;
    right.length = 0;
    left.next = right.next;
    if (left.next != kNoSymbol) symbols[left.next].previous = top.left;
    const auto push = [&](bool offered) {
      if (offered) std::push_heap(heap.begin(), heap.end(), comes_later);
    };
    if (left.previous != kNoSymbol) push(offer(left.previous));
    if (left.next != kNoSymbol) push(offer(top.left));
  }
}

void ScoreBpe::tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const {
  auto& buffers = static_cast<Buffers&>(scratch);
  buffers.symbols.clear();
  buffers.heap.clear();
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t length = character_at(piece, at).length;
    const auto index = static_cast<std::uint32_t>(buffers.symbols.size());
    const bool last = at + length == piece.size();
    buffers.symbols.push_back(
        {at, length, index == 0 ? kNoSymbol : index - 1, last ? kNoSymbol : index + 1});
    at += length;
  }
  join(piece, buffers);
  for (const Symbol& symbol : buffers.symbols) {
    if (symbol.length > 0) add(piece.substr(symbol.begin, symbol.length), out);
  }
}

void ScoreBpe::add(std::string_view symbol, TokenIds& out) const {
  if (const TokenId id = find(symbol); id != Vocabulary::kNone) {
    out.push_back(id);
    return;
  }
  const auto byte_id = [this](char byte) { return byte_ids_[static_cast<unsigned char>(byte)]; };
  if (std::all_of(symbol.begin(), symbol.end(),
                  [&](char byte) { return byte_id(byte) != Vocabulary::kNone; })) {
    for (const char byte : symbol) out.push_back(byte_id(byte));
  } else if (options_.unk != Vocabulary::kNone) {
    out.push_back(options_.unk);
  } else {
    throw Error(ErrorCode::kInvalidArgument, subject_,
                "no token holds '" + std::string(symbol) +
                    "', there are no byte tokens and no unknown token");
  }
}

}  // namespace quire
