// SPDX-License-Identifier: Apache-2.0
#include "text/bpe.h"

#include <quire/error.h>

#include <algorithm>

#include "text/byte_letters.h"
#include "text/byte_tokens.h"
#include "text/utf8.h"
#include "text/word_cache.h"

namespace quire {

namespace {

constexpr std::uint64_t kEmptyKey = ~std::uint64_t{0};
constexpr std::uint32_t kNoSymbol = 0xFFFFFFFF;

std::uint64_t key_of(TokenId left, TokenId right) {
  return (std::uint64_t{static_cast<std::uint32_t>(left)} << 32) |
         static_cast<std::uint32_t>(right);
}

// Spreads neighbouring ids over the table (Fibonacci hashing).
std::size_t hash_of(std::uint64_t key) {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15ULL) >> 20);
}

struct Symbol {
  TokenId id;  // Vocabulary::kNone: joined to its left neighbour
  std::uint32_t previous;
  std::uint32_t next;
};

struct Candidate {
  std::uint32_t rank;
  std::uint32_t position;
  TokenId result;
};

// For a heap with the lowest rank, then the leftmost pair, on top.
bool comes_later(const Candidate& a, const Candidate& b) {
  return a.rank != b.rank ? a.rank > b.rank : a.position > b.position;
}

}  // namespace

void MergeTable::reserve(std::size_t merges) {
  while (slots_.size() < 2 * merges) grow();
}

void MergeTable::grow() {
  std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size(), Slot{kEmptyKey, {0, 0}});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.key == kEmptyKey) continue;
    std::size_t at = hash_of(slot.key) & mask;
    while (slots_[at].key != kEmptyKey) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

void MergeTable::put(TokenId left, TokenId right, Merge merge) {
  if (slots_.size() < 2 * (count_ + 1)) grow();
  const std::uint64_t key = key_of(left, right);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(key) & mask;
  while (slots_[at].key != kEmptyKey && slots_[at].key != key) at = (at + 1) & mask;
  count_ += slots_[at].key == kEmptyKey;
  slots_[at] = {key, merge};
}

const MergeTable::Merge* MergeTable::find(TokenId left, TokenId right) const {
  if (slots_.empty()) return nullptr;
  const std::uint64_t key = key_of(left, right);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash_of(key) & mask;
  while (slots_[at].key != kEmptyKey) {
    if (slots_[at].key == key) return &slots_[at].merge;
    at = (at + 1) & mask;
  }
  return nullptr;
}

class Bpe::Words final : public TextModel::Scratch {
 public:
  WordCache cache;
  TokenIds ids;  // the word's first symbols, then its tokens
  std::vector<Symbol> symbols;
  std::vector<Candidate> heap;
};

Bpe::Bpe(std::shared_ptr<const Vocabulary> vocabulary, MergeTable merges, BpeOptions options,
         std::string subject)
    : vocabulary_(std::move(vocabulary)),
      merges_(std::move(merges)),
      options_(std::move(options)),
      subject_(std::move(subject)),
      fallback_ids_(byte_token_ids(*vocabulary_)) {
  for (std::size_t byte = 0; byte < byte_ids_.size(); ++byte) {
    byte_ids_[byte] = vocabulary_->find(byte_letter(static_cast<unsigned char>(byte)));
  }
}

std::unique_ptr<TextModel::Scratch> Bpe::make_scratch() const { return std::make_unique<Words>(); }

void Bpe::tokenize(std::string_view piece, Scratch& scratch, TokenIds& out) const {
  if (piece.empty()) return;
  auto& words = static_cast<Words&>(scratch);
  const std::size_t hash = WordCache::hash_of(piece);
  if (words.cache.append(piece, hash, out)) return;
  words.ids.clear();
  if (options_.ignore_merges) {
    const TokenId whole = vocabulary_->find(options_.raw_bytes ? spell_bytes(piece) : piece);
    if (whole != Vocabulary::kNone && !words.bars(whole)) words.ids.push_back(whole);
  }
  if (words.ids.empty()) {
    first_symbols(piece, words.ids);
    merge(words, words.ids);
  }
  words.cache.remember(piece, hash, words.ids);
  out.insert(out.end(), words.ids.begin(), words.ids.end());
}

TokenId Bpe::unk() const {
  const TokenId id = vocabulary_->find(options_.unk_token);
  if (id == Vocabulary::kNone) {
    throw Error(ErrorCode::kInvalidArgument, subject_,
                "unk_token '" + options_.unk_token + "' is not in vocab, and the text needs it");
  }
  return id;
}

// Appends what stands for a character without a token. `pending` says that an unknown token waits
// for more characters to fuse with.
void Bpe::add_unknown(std::string_view spelled, bool& pending, TokenIds& out) const {
  if (options_.byte_fallback) {
    const auto fallback = [this](char byte) {
      return fallback_ids_[static_cast<unsigned char>(byte)];
    };
    if (std::all_of(spelled.begin(), spelled.end(),
                    [&](char byte) { return fallback(byte) != Vocabulary::kNone; })) {
      for (const char byte : spelled) out.push_back(fallback(byte));
      return;
    }
  }
  if (options_.unk_token.empty()) {
    if (!options_.raw_bytes) return;  // left out, as Hugging Face tokenizers does
    throw Error(ErrorCode::kInvalidArgument, subject_,
                "no token holds the byte '" + std::string(spelled) +
                    "', and there is no unknown token");
  }
  const TokenId id = unk();
  if (pending && !options_.fuse_unk) out.push_back(id);
  pending = true;
}

void Bpe::first_symbols(std::string_view piece, TokenIds& out) const {
  bool pending = false;
  const auto add_known = [&](TokenId id) {
    if (pending) out.push_back(unk());
    pending = false;
    out.push_back(id);
  };
  std::string spelled;
  for (std::size_t at = 0; at < piece.size();) {
    if (options_.raw_bytes) {
      const auto byte = static_cast<unsigned char>(piece[at++]);
      if (byte_ids_[byte] != Vocabulary::kNone) {
        add_known(byte_ids_[byte]);
      } else {
        add_unknown(byte_letter(byte), pending, out);
      }
      continue;
    }
    const std::size_t length = character_at(piece, at).length;
    spelled.clear();
    if (at > 0) spelled += options_.continuing_subword_prefix;
    spelled += piece.substr(at, length);
    at += length;
    if (at == piece.size()) spelled += options_.end_of_word_suffix;
    const TokenId id = vocabulary_->find(spelled);
    if (id != Vocabulary::kNone) {
      add_known(id);
    } else {
      add_unknown(spelled, pending, out);
    }
  }
  if (pending) out.push_back(unk());
}

// Joins the symbols `ids` in place.
void Bpe::merge(Words& scratch, TokenIds& ids) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  symbols.clear();
  heap.clear();
  const auto count = static_cast<std::uint32_t>(ids.size());
  for (std::uint32_t i = 0; i < count; ++i) {
    symbols.push_back({ids[i], i == 0 ? kNoSymbol : i - 1, i + 1 == count ? kNoSymbol : i + 1});
  }
  const auto offer = [&](std::uint32_t left) {
    const MergeTable::Merge* found = merges_.find(symbols[left].id, symbols[symbols[left].next].id);
    if (found != nullptr) heap.push_back({found->rank, left, found->result});
    return found != nullptr;
  };
  for (std::uint32_t i = 0; i + 1 < count; ++i) offer(i);
  std::make_heap(heap.begin(), heap.end(), comes_later);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), comes_later);
    const Candidate top = heap.back();
    heap.pop_back();
    Symbol& left = symbols[top.position];
    if (left.id == Vocabulary::kNone || left.next == kNoSymbol) continue;
    Symbol& right = symbols[left.next];
    const MergeTable::Merge* current = merges_.find(left.id, right.id);
    if (current == nullptr || current->result != top.result) continue;
    left.id = top.result;
    right.id = Vocabulary::kNone;
    left.next = right.next;
    if (left.next != kNoSymbol) symbols[left.next].previous = top.position;
    if (left.previous != kNoSymbol && offer(left.previous)) {
      std::push_heap(heap.begin(), heap.end(), comes_later);
    }
    if (left.next != kNoSymbol && offer(top.position)) {
      std::push_heap(heap.begin(), heap.end(), comes_later);
    }
  }
  ids.clear();
  for (const Symbol& symbol : symbols) {
    if (symbol.id != Vocabulary::kNone) ids.push_back(symbol.id);
  }
}

}  // namespace quire
