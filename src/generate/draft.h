// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace quire {

// Guesses what the model will say next, from a draft of the whole answer and, on request, from
// what followed the same few tokens earlier in the text (prompt look-up decoding). Knows no model:
// it only proposes, and learns what was chosen.
//
// The draft is followed from its start. Where the model says something else, following resumes at
// the next place of the draft that reads like the last kMatch tokens of the answer.
//
// A wrong guess costs little, by construction: a proposal begins with kLeast tokens and doubles
// only after one that came true as a whole; after one of which nothing did, none is made for some
// tokens, twice as many each time in a row.
//
// Thread-safety: one answer, one thread at a time.
class Draft {
 public:
  static constexpr std::int64_t kLeast = 4;
  static constexpr std::int64_t kMost = 32;
  static constexpr std::ptrdiff_t kMatch = 2;        // in the draft
  static constexpr std::ptrdiff_t kLookupMatch = 3;  // anywhere in the text
  static constexpr std::int64_t kFirstPause = 4;

  // Proposes nothing.
  Draft() = default;

  // `prompt`: what look-up reads besides the answer; none: no look-up.
  Draft(TokenIds tokens, std::optional<TokenIds> prompt);

  // What comes next, perhaps: at most `most` tokens, or none.
  TokenIds propose(std::int64_t most);

  // The model chose `id`.
  void take(TokenId id);

  // Of `proposed` tokens, the first `accepted` came true.
  void judge(std::int64_t proposed, std::int64_t accepted);

 private:
  void find_place();
  std::span<const TokenId> looked_up() const;

  TokenIds tokens_;
  std::optional<std::size_t> at_ = std::nullopt;  // the token that comes next; none: lost
  std::size_t lost_at_ = 0;                       // where the answer and the draft parted
  TokenIds text_;                                 // prompt, if it is looked up, and answer
  std::size_t prompt_size_ = 0;                   // of text_
  bool lookup_ = false;
  std::int64_t chunk_ = kLeast;
  std::int64_t pause_ = 0;  // tokens until the next proposal
  std::int64_t next_pause_ = kFirstPause;
};

}  // namespace quire
