// SPDX-License-Identifier: Apache-2.0
// Two texts side by side: which content words have a counterpart in the other, and how close the
// encoder thinks two words are where they stand.
//
// Thread-safety: immutable once made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "semantic/utterance.h"

namespace quire {

// The encoder's states of a text's words, coded to a byte a dimension: cosines only need the
// direction, and come out within 0.01.
struct WordStates {
  std::size_t width = 0;
  std::vector<std::int8_t> codes;     // [states][width]
  std::vector<std::int32_t> of_word;  // a word's state, or -1

  bool has(std::size_t word) const { return word < of_word.size() && of_word[word] >= 0; }
  std::span<const std::int8_t> of(std::size_t word) const;
};

// `pieces`: the tokens as the vocabulary spells them; `states`: [pieces][width]. A word's state is
// the mean of its pieces'. Words whose pieces cannot be found have none.
WordStates word_states(const Utterance& utterance, std::span<const std::string> pieces,
                       std::span<const float> states);

struct Reading {
  Utterance said;
  WordStates states;
};

// One candidate for reuse: what is asked, and what a stored answer answered.
struct Pairing {
  const Reading& asked;
  const Reading& stored;
  // Content words of each without a counterpart in the other, by index.
  std::vector<std::size_t> only_asked;
  std::vector<std::size_t> only_stored;

  std::size_t content = 0;  // content words of both

  std::size_t differences() const { return only_asked.size() + only_stored.size(); }

  // The texts say it so differently that a word more or less on one side proves little.
  bool reworded() const;
};

Pairing pair_words(const Reading& asked, const Reading& stored);

// Spelled alike up to inflection, derivation, British spelling and, in long words, one slip.
bool alike(const Word& a, const Word& b);

// The cosine of two words' states; 1 when a text has none of its words.
double state_cosine(const Reading& a, std::size_t word_a, const Reading& b, std::size_t word_b);

}  // namespace quire
