// SPDX-License-Identifier: Apache-2.0
#include "generate/prefix_turns.h"

#include <algorithm>

namespace quire {
namespace {

bool equal(const PrefixScope& a, const PrefixScope& b) {
  return a.name_space == b.name_space && a.salt == b.salt && a.adapter == b.adapter;
}

}  // namespace

PrefixTurns::Turn::Turn(PrefixTurns& turns, std::span<const TokenId> prompt,
                        const PrefixScope& scope, bool provides, const Deadline& deadline)
    : turns_(turns), prompt_(prompt), scope_(scope) {
  std::unique_lock lock(turns.mutex_);
  turns.waiting_.push_back(this);
  const auto mine_is_there = [&] { return turns.provider(*this) == nullptr; };
  if (deadline) {
    turns.changed_.wait_until(lock, *deadline, mine_is_there);
  } else {
    turns.changed_.wait(lock, mine_is_there);
  }
  std::erase(turns.waiting_, this);
  if (provides) turns.providers_.push_back(this);
}

PrefixTurns::Turn::~Turn() { end(); }

void PrefixTurns::Turn::reuses(std::int64_t tokens) {
  const std::lock_guard lock(turns_.mutex_);
  reused_ = tokens;
  turns_.changed_.notify_all();
}

bool PrefixTurns::Turn::awaited() const {
  const std::lock_guard lock(turns_.mutex_);
  return std::ranges::any_of(turns_.waiting_,
                             [&](const Turn* other) { return turns_.provider(*other) == this; });
}

void PrefixTurns::Turn::end() {
  const std::lock_guard lock(turns_.mutex_);
  if (std::erase(turns_.providers_, this) > 0) turns_.changed_.notify_all();
}

const PrefixTurns::Turn* PrefixTurns::provider(const Turn& turn) const {
  // The last token of a prompt is always computed, so a page that holds it is of no use.
  const auto needed = turn.prompt_.first(turn.prompt_.size() - 1);
  for (const Turn* other : providers_) {
    const auto [mine, theirs] = std::ranges::mismatch(needed, other->prompt_);
    const std::int64_t common = (mine - needed.begin()) / block_size_ * block_size_;
    if (common > other->reused_ && equal(turn.scope_, other->scope_)) return other;
  }
  return nullptr;
}

}  // namespace quire
