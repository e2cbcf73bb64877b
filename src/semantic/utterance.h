// SPDX-License-Identifier: Apache-2.0
// A text as the guards read it: words, numbers with their values, identifiers, each with what its
// spelling tells. English first; Chinese characters come one a word.
//
// Rules of spelling and word classes, no dictionary: a reading may be wrong, and a guard that reads
// wrong refuses or lets the others decide.
//
// Thread-safety: functions of their arguments.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

enum class WordKind {
  kWord,
  kNumber,      // value is set: digits, number words, ordinals
  kIdentifier,  // code, flags, paths, versions, addresses: as written, case kept
  kHan,         // one Chinese character
  kPause,       // , ; : . ! ? and brackets: where a clause may end
};

struct Word {
  WordKind kind = WordKind::kWord;
  std::string text;    // as written
  std::string folded;  // lower case
  std::string stem;    // of the folded form: inflection and British spelling removed
  double value = 0;
  bool spelled = false;  // a number in letters
  bool glued = false;    // written to the number before it: the m of 5m
  bool capital = false;  // a capital where a sentence does not ask for one
  bool shouted = false;  // capitals only, two or more
};

struct Utterance {
  std::string text;
  std::vector<Word> words;
  std::vector<std::string> quoted;  // what stands in quotation marks, lower case
  bool whole = true;                // false: the text goes on after kMostRead
};

// Text after these many bytes is not read.
inline constexpr std::size_t kMostRead = 16384;

Utterance read_utterance(std::string_view text);

// A folded word without its inflection: plural, -ed, -ing, -ly; British endings become American.
std::string stem_of(std::string_view folded);

// True for words that are no kPause.
bool is_spoken(const Word& word);

// The words of the utterance that have the stem.
bool has_stem(const Utterance& utterance, std::string_view stem);

}  // namespace quire
