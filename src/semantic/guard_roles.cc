// SPDX-License-Identifier: Apache-2.0
// The same words in other places.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "semantic/guards.h"
#include "semantic/lexicon.h"

namespace quire {

namespace {

using Stems = std::set<std::string>;

struct Frame {
  std::map<std::string, Stems> after;  // a preposition's content words
  std::vector<std::string> core;       // content words after no preposition, in order
  Stems all;
  bool passive = false;
  bool comma = false;
};

std::string key_of(const Word& word) {
  return word.kind == WordKind::kNumber ? std::to_string(word.value) : word.stem;
}

bool is_be(std::string_view folded) {
  return folded == "is" || folded == "are" || folded == "was" || folded == "were" ||
         folded == "be" || folded == "been";
}

// What may stand between a preposition and its noun.
bool is_determiner(std::string_view folded) {
  return folded == "the" || folded == "a" || folded == "an" || folded == "my" || folded == "your" ||
         folded == "our" || folded == "and";
}

bool is_object_pronoun(std::string_view folded) {
  return folded == "me" || folded == "him" || folded == "her" || folded == "us" ||
         folded == "them" || folded == "you";
}

// The words that from, to, than, … take: up to the next function word.
Frame frame_of(const Utterance& said) {
  Frame frame;
  std::string preposition;
  bool be = false;
  for (const Word& word : said.words) {
    if (word.kind == WordKind::kPause) {
      preposition.clear();
      frame.comma |= word.text == ",";
      continue;
    }
    if (is_content(word)) {
      const std::string key = key_of(word);
      frame.all.insert(key);
      if (preposition.empty()) {
        frame.core.push_back(key);
      } else {
        frame.after[preposition].insert(key);
      }
      frame.passive |= be && word.folded.ends_with("ed");
      continue;
    }
    if (word.kind != WordKind::kWord) continue;
    frame.passive |= be && word.folded == "used";
    be |= is_be(word.folded);
    if (is_preposition(word.folded)) {
      // "than to fly" compares.
      if (preposition != "than" || word.folded != "to") preposition = word.folded;
    } else if (is_object_pronoun(word.folded) && !preposition.empty()) {
      frame.after[preposition].insert(word.folded);
      preposition.clear();
    } else if (!is_determiner(word.folded)) {
      preposition.clear();
    }
  }
  return frame;
}

const Stems& after(const Frame& frame, const std::string& preposition) {
  static const Stems kNone;
  const auto found = frame.after.find(preposition);
  return found == frame.after.end() ? kNone : found->second;
}

// A word of `x` that is not in `y` although `y`'s text has it elsewhere.
std::string moved(const Stems& x, const Stems& y, const Stems& all_y) {
  for (const std::string& word : x) {
    if (!y.contains(word) && all_y.contains(word)) return word;
  }
  return {};
}

constexpr std::array<std::string_view, 14> kDirected = {
    "from",  "to",   "into",  "onto",    "than", "by", "before",
    "after", "over", "under", "against", "via",  "as", "of"};

// A preposition whose words changed places with others of the text.
std::string exchanged(const Frame& a, const Frame& b) {
  for (const auto& [preposition, words] : a.after) {
    if (std::ranges::find(kDirected, preposition) == kDirected.end()) continue;
    if (a.passive != b.passive && preposition == "by") continue;
    const Stems& others = after(b, preposition);
    if (others.empty()) continue;
    const std::string x = moved(words, others, b.all);
    const std::string y = moved(others, words, a.all);
    if (!x.empty() && !y.empty())
      return preposition + " " + x + " against " + preposition + " " + y;
  }
  return {};
}

// Prepositions that say opposite or different things of the same noun; those of one group do not.
int direction_of(std::string_view preposition) {
  constexpr std::array<std::string_view, 7> kGroups = {" to into onto until ",
                                                       " from since ",
                                                       " by ",
                                                       " before ",
                                                       " after ",
                                                       " within ",
                                                       " against "};
  for (std::size_t i = 0; i < kGroups.size(); ++i) {
    if (kGroups[i].find(" " + std::string(preposition) + " ") != std::string_view::npos) {
      return static_cast<int>(i) + 1;
    }
  }
  return 0;
}

std::set<int> directions(const Frame& frame, const std::string& noun) {
  std::set<int> result;
  for (const auto& [preposition, words] : frame.after) {
    const int direction = direction_of(preposition);
    if (direction != 0 && words.contains(noun)) result.insert(direction);
  }
  return result;
}

// A noun that one text sends something to and the other takes it from.
std::string redirected(const Frame& a, const Frame& b) {
  for (const auto& [preposition, words] : a.after) {
    for (const std::string& noun : words) {
      const std::set<int> here = directions(a, noun);
      const std::set<int> there = directions(b, noun);
      if (!here.empty() && !there.empty() && here != there) return preposition + " " + noun;
    }
  }
  return {};
}

std::vector<std::string> shared(const std::vector<std::string>& words, const Stems& with) {
  std::vector<std::string> result;
  for (const std::string& word : words) {
    if (with.contains(word) && std::ranges::find(result, word) == result.end())
      result.push_back(word);
  }
  return result;
}

// The nouns and verbs of a clause in another order: "the dog chases the cat".
bool reordered(const Frame& a, const Frame& b) {
  constexpr std::size_t kMostWords = 6;
  if (a.passive != b.passive || a.comma != b.comma || a.core.size() > kMostWords) return false;
  const Stems in_a(a.core.begin(), a.core.end());
  const Stems in_b(b.core.begin(), b.core.end());
  if (in_a != in_b || in_a.size() < 2) return false;
  return shared(a.core, in_b) != shared(b.core, in_a);
}

// 从 A 到 B, A 比 B, 把 A 换成 B: what stands before and after the marker, exchanged.
std::string exchanged_han(const Utterance& a, const Utterance& b) {
  constexpr std::array<std::string_view, 6> kMarkers = {"到", "比", "给", "换成", "转成", "被"};
  for (const std::string_view marker : kMarkers) {
    const std::size_t x = a.text.find(marker);
    const std::size_t y = b.text.find(marker);
    if (x == std::string::npos || y == std::string::npos) continue;
    constexpr std::size_t kCharacter = 3;
    const auto before = [&](const std::string& text, std::size_t at) {
      return at < kCharacter ? std::string() : text.substr(at - kCharacter, kCharacter);
    };
    const auto behind = [&](const std::string& text, std::size_t at) {
      return text.substr(at + marker.size());
    };
    const std::string left_a = before(a.text, x);
    const std::string left_b = before(b.text, y);
    if (left_a.empty() || left_b.empty() || left_a == left_b) continue;
    if (behind(b.text, y).find(left_a) != std::string::npos &&
        behind(a.text, x).find(left_b) != std::string::npos) {
      return std::string(marker);
    }
  }
  return {};
}

// The pole of a comparison with "than"; 0 if there is none.
int comparison(const Utterance& said, int& axis) {
  if (!has_stem(said, "than")) return 0;
  for (const Word& word : said.words) {
    const std::vector<Pole> poles = poles_of(word.stem);
    if (poles.empty()) continue;
    axis = poles[0].axis;
    return poles[0].negative ? -1 : 1;
  }
  return 0;
}

}  // namespace

bool is_reversed_comparison(const Pairing& pairing) {
  int axis_a = 0;
  int axis_b = 0;
  const int a = comparison(pairing.asked.said, axis_a);
  const int b = comparison(pairing.stored.said, axis_b);
  if (a * b != -1 || axis_a != axis_b) return false;
  const Frame x = frame_of(pairing.asked.said);
  const Frame y = frame_of(pairing.stored.said);
  return !moved(after(x, "than"), after(y, "than"), y.all).empty() &&
         !moved(after(y, "than"), after(x, "than"), x.all).empty();
}

Objection exchanged_roles(const Pairing& pairing) {
  // Who does what to whom can be compared only where the words are the same.
  constexpr std::size_t kMostDifferences = 2;
  constexpr std::size_t kMostContent = 24;
  if (pairing.content > kMostContent) return std::nullopt;
  if (is_reversed_comparison(pairing)) return std::nullopt;
  const Frame a = frame_of(pairing.asked.said);
  const Frame b = frame_of(pairing.stored.said);
  if (pairing.differences() <= kMostDifferences && a.passive == b.passive) {
    if (std::string how = exchanged(a, b); !how.empty()) return how;
    if (std::string how = redirected(a, b); !how.empty()) return how + " on one side";
  }
  if (pairing.differences() <= 1 && reordered(a, b)) return "the same words in another order";
  if (std::string how = exchanged_han(pairing.asked.said, pairing.stored.said); !how.empty()) {
    return how;
  }
  return std::nullopt;
}

}  // namespace quire
