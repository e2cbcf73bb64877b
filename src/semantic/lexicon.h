// SPDX-License-Identifier: Apache-2.0
// Classes of English words that the guards know: closed classes whole, opposites and units as far
// as everyday questions need them. General knowledge of the language, not of any data set.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <string_view>
#include <vector>

#include "semantic/utterance.h"

namespace quire {

// Articles, auxiliaries, pronouns, prepositions, conjunctions, question words.
bool is_function_word(std::string_view folded);

// Words that carry the request, not its subject: please, tell, explain, help, want, way, …
bool is_request_word(std::string_view folded);

// What a request is about: neither a function word nor a request word, or a letter as a name.
bool is_content(const Word& word);

bool is_preposition(std::string_view folded);

// not, no, never, without, fail, refuse, … Each turns what follows round.
bool is_negator(std::string_view folded);

// One end of a pair of opposites.
struct Pole {
  int axis;
  bool negative;
  bool strong;  // the negative end says "not" by itself: wrong, invalid, impossible
};

// All the poles of a word, given by stem.
std::vector<Pole> poles_of(std::string_view stem);

// "km", "kilometers" -> "kilometer"; empty if it is no unit. `after_number`: as letters that are
// units only there: 5 m, 30 s.
std::string_view unit_of(std::string_view folded, bool after_number);

}  // namespace quire
