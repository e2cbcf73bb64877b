// SPDX-License-Identifier: Apache-2.0
#include "generate/draft.h"

#include <algorithm>
#include <utility>

namespace quire {
namespace {

std::span<const TokenId> last_of(std::span<const TokenId> tokens, std::ptrdiff_t count) {
  return tokens.last(static_cast<std::size_t>(std::min(count, std::ssize(tokens))));
}

}  // namespace

Draft::Draft(TokenIds tokens, std::optional<TokenIds> prompt)
    : tokens_(std::move(tokens)), lookup_(prompt.has_value()) {
  if (!tokens_.empty()) at_ = 0;
  if (prompt) text_ = std::move(*prompt);
  prompt_size_ = text_.size();
}

TokenIds Draft::propose(std::int64_t most) {
  if (pause_ > 0 || most < 1) return {};
  if (!at_) find_place();
  const std::span<const TokenId> next =
      at_ ? std::span<const TokenId>(tokens_).subspan(*at_) : looked_up();
  const std::int64_t count = std::min({most, chunk_, std::ssize(next)});
  return {next.begin(), next.begin() + count};
}

void Draft::take(TokenId id) {
  if (pause_ > 0) --pause_;
  if (tokens_.empty() && !lookup_) return;
  text_.push_back(id);
  if (!at_) return;
  const bool as_drafted = tokens_[*at_] == id;
  const std::size_t next = *at_ + 1;
  if (as_drafted && next < tokens_.size()) {
    at_ = next;
  } else {
    lost_at_ = as_drafted ? next : *at_;
    at_.reset();
  }
}

void Draft::judge(std::int64_t proposed, std::int64_t accepted) {
  if (proposed == 0) return;
  chunk_ = accepted == proposed ? std::min(2 * chunk_, kMost) : kLeast;
  if (accepted > 0) {
    next_pause_ = kFirstPause;
    return;
  }
  pause_ = next_pause_;
  next_pause_ *= 2;
}

// The place nearest to where the draft was left, rather one after it.
void Draft::find_place() {
  const auto answer = std::span<const TokenId>(text_).subspan(prompt_size_);
  if (tokens_.empty() || std::ssize(answer) < kMatch) return;
  const auto wanted = last_of(answer, kMatch);
  for (const std::size_t from : {lost_at_, std::size_t{0}}) {
    const auto found = std::search(tokens_.begin() + static_cast<std::ptrdiff_t>(from),
                                   tokens_.end(), wanted.begin(), wanted.end());
    if (tokens_.end() - found <= kMatch) continue;  // not there, or nothing comes after it
    at_ = static_cast<std::size_t>(found - tokens_.begin() + kMatch);
    return;
  }
}

// What followed the latest earlier place that reads like the end of the text.
std::span<const TokenId> Draft::looked_up() const {
  if (!lookup_ || std::ssize(text_) <= kLookupMatch) return {};
  const auto wanted = last_of(text_, kLookupMatch);
  const auto found = std::find_end(text_.begin(), text_.end() - 1, wanted.begin(), wanted.end());
  if (found == text_.end() - 1) return {};
  return std::span<const TokenId>(text_).subspan(
      static_cast<std::size_t>(found - text_.begin() + kLookupMatch));
}

}  // namespace quire
