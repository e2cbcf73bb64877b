// SPDX-License-Identifier: Apache-2.0
#include "text/vocabulary.h"

#include <functional>

namespace quire {

namespace {

constexpr std::uint32_t kNoPiece = 0xFFFFFFFF;

std::uint32_t hash_of(std::string_view piece) {
  return static_cast<std::uint32_t>(std::hash<std::string_view>{}(piece));
}

}  // namespace

void Vocabulary::reserve(std::size_t pieces, std::size_t bytes) {
  arena_.reserve(bytes);
  by_id_.reserve(pieces);
  while (slots_.size() < 2 * pieces) grow();
}

void Vocabulary::grow() {
  std::vector<Slot> old(slots_.empty() ? 64 : 2 * slots_.size(), Slot{0, kNone});
  old.swap(slots_);
  const std::size_t mask = slots_.size() - 1;
  for (const Slot& slot : old) {
    if (slot.id == kNone) continue;
    std::size_t at = slot.hash & mask;
    while (slots_[at].id != kNone) at = (at + 1) & mask;
    slots_[at] = slot;
  }
}

Vocabulary::Added Vocabulary::add(std::string_view piece, TokenId id) {
  if (find(piece) != kNone) return Added::kPieceTaken;
  if (holds(id)) return Added::kIdTaken;
  if (slots_.size() < 2 * (count_ + 1)) grow();
  const auto index = static_cast<std::size_t>(id);
  if (index >= by_id_.size()) by_id_.resize(index + 1, Span{0, kNoPiece});
  by_id_[index] = {static_cast<std::uint32_t>(arena_.size()),
                   static_cast<std::uint32_t>(piece.size())};
  arena_.append(piece);
  const std::uint32_t hash = hash_of(piece);
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash & mask;
  while (slots_[at].id != kNone) at = (at + 1) & mask;
  slots_[at] = {hash, id};
  ++count_;
  return Added::kYes;
}

TokenId Vocabulary::find(std::string_view piece) const {
  if (slots_.empty()) return kNone;
  const std::uint32_t hash = hash_of(piece);
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = hash & mask; slots_[at].id != kNone; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && this->piece(slots_[at].id) == piece) return slots_[at].id;
  }
  return kNone;
}

bool Vocabulary::holds(TokenId id) const {
  return id >= 0 && static_cast<std::size_t>(id) < by_id_.size() &&
         by_id_[static_cast<std::size_t>(id)].length != kNoPiece;
}

std::string_view Vocabulary::piece(TokenId id) const {
  const Span& span = by_id_[static_cast<std::size_t>(id)];
  return std::string_view(arena_).substr(span.offset, span.length);
}

}  // namespace quire
