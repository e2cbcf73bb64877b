// SPDX-License-Identifier: Apache-2.0
#include "semantic/word_pairing.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>

#include "semantic/lexicon.h"
#include "text/unicode.h"

namespace quire {

namespace {

// Lower case without accents, as an uncased vocabulary spells it.
std::string bare(std::string_view text) {
  std::string out;
  for (const char c : normalized(lower_case(text), NormalForm::kNfd)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0xCC || byte == 0xCD) {
      out.push_back('\xCC');  // a combining mark's first byte; its second follows
      continue;
    }
    out.push_back(c);
  }
  std::string kept;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == '\xCC') {
      ++i;
    } else {
      kept.push_back(out[i]);
    }
  }
  return kept;
}

// A piece without the marks that say whether it begins a word.
std::string letters_of(std::string_view piece) {
  for (const std::string_view mark : {"##", "\u2581", "\u0120"}) {
    if (piece.starts_with(mark)) piece.remove_prefix(mark.size());
  }
  return bare(piece);
}

void add_state(std::span<const float> states, std::size_t first, std::size_t last,
               WordStates& out) {
  std::vector<float> mean(out.width);
  for (std::size_t token = first; token < last; ++token) {
    for (std::size_t i = 0; i < out.width; ++i) mean[i] += states[token * out.width + i];
  }
  float most = 0;
  for (const float value : mean) most = std::max(most, std::abs(value));
  const float scale = most > 0 ? 127 / most : 0;
  for (const float value : mean) {
    out.codes.push_back(static_cast<std::int8_t>(std::lround(value * scale)));
  }
}

bool one_slip(std::string_view a, std::string_view b) {
  constexpr std::size_t kLong = 8;
  if (a.size() > b.size()) std::swap(a, b);
  if (a.size() < kLong || b.size() - a.size() > 1 || a[0] != b[0]) return false;
  const auto [at, unused] = std::ranges::mismatch(a, b);
  const auto i = static_cast<std::size_t>(at - a.begin());
  if (b.size() > a.size()) return a.substr(i) == b.substr(i + 1);
  return i + 1 < a.size() && a[i] == b[i + 1] && a[i + 1] == b[i] &&
         a.substr(i + 2) == b.substr(i + 2);
}

bool is_derivation(std::string_view a, std::string_view b) {
  constexpr std::array<std::string_view, 24> kEndings = {
      "",   "e",    "ation", "ion", "ment", "al", "ing",  "er",  "or",  "ance", "ence", "ity",
      "iv", "able", "nes",   "ur",  "i",    "ic", "ical", "ful", "abl", "anc",  "enc",  "at"};
  const auto same = static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
  constexpr std::size_t kRoot = 5;
  if (same < kRoot) return false;
  const auto ending = [&](std::string_view word) {
    return std::ranges::find(kEndings, word.substr(same)) != kEndings.end();
  };
  return ending(a) && ending(b);
}

// "NYC" for New York City, "ML" for machine learning: words from `at` on whose initials it is.
std::size_t spelled_out(const Word& acronym, std::span<const Word> words, std::size_t at) {
  const std::string& letters = acronym.folded;
  if (letters.size() < 2 || letters.size() > 6) return 0;
  std::size_t used = 0;
  for (std::size_t i = at; i < words.size() && used < letters.size(); ++i, ++used) {
    if (words[i].kind != WordKind::kWord || words[i].folded[0] != letters[used]) return 0;
  }
  return used == letters.size() ? used : 0;
}

// Marks the words of `b` that words of `a` stand for: alike, joined ("log in", "login"), initials.
void mark(const Utterance& a, const Utterance& b, std::vector<bool>& in_a,
          std::vector<bool>& in_b) {
  for (std::size_t i = 0; i < a.words.size(); ++i) {
    for (std::size_t j = 0; j < b.words.size(); ++j) {
      if (alike(a.words[i], b.words[j])) in_a[i] = in_b[j] = true;
      if (a.words[i].kind != WordKind::kWord) continue;
      if (j + 1 < b.words.size() && b.words[j].kind == WordKind::kWord &&
          a.words[i].folded == b.words[j].folded + b.words[j + 1].folded) {
        in_a[i] = in_b[j] = in_b[j + 1] = true;
      }
      const std::size_t spelled = a.words[i].shouted ? spelled_out(a.words[i], b.words, j) : 0;
      for (std::size_t k = 0; k < spelled; ++k) in_a[i] = in_b[j + k] = true;
    }
  }
}

std::vector<std::size_t> unmarked(const Utterance& said, const std::vector<bool>& in) {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    if (!in[i] && is_content(said.words[i])) result.push_back(i);
  }
  return result;
}

}  // namespace

std::span<const std::int8_t> WordStates::of(std::size_t word) const {
  return std::span(codes).subspan(static_cast<std::size_t>(of_word[word]) * width, width);
}

WordStates word_states(const Utterance& utterance, std::span<const std::string> pieces,
                       std::span<const float> states) {
  WordStates out;
  if (pieces.empty() || states.size() % pieces.size() != 0) return out;
  out.width = states.size() / pieces.size();
  out.of_word.assign(utterance.words.size(), -1);
  std::vector<std::string> letters;
  for (const std::string& piece : pieces) letters.push_back(letters_of(piece));
  std::size_t token = 0;
  std::int32_t count = 0;
  for (std::size_t i = 0; i < utterance.words.size(); ++i) {
    const Word& word = utterance.words[i];
    if (word.kind == WordKind::kPause || word.text.empty()) continue;
    const std::string wanted = bare(word.text);
    for (std::size_t first = token; first < letters.size(); ++first) {
      std::string joined;
      std::size_t last = first;
      while (last < letters.size() && joined.size() < wanted.size()) joined += letters[last++];
      if (joined != wanted) continue;
      add_state(states, first, last, out);
      out.of_word[i] = count++;
      token = last;
      break;
    }
  }
  return out;
}

bool alike(const Word& a, const Word& b) {
  if (a.kind != b.kind || a.kind == WordKind::kPause) return false;
  if (a.kind == WordKind::kNumber) return a.value == b.value;
  if (a.kind != WordKind::kWord) return a.text == b.text;
  if (a.stem == b.stem) return true;
  if (a.capital || b.capital) return false;
  const std::string_view unit = unit_of(a.folded, false);
  if (!unit.empty() && unit == unit_of(b.folded, false)) return true;
  return one_slip(a.stem, b.stem) || is_derivation(a.stem, b.stem);
}

Pairing pair_words(const Reading& asked, const Reading& stored) {
  const Utterance& a = asked.said;
  const Utterance& b = stored.said;
  std::vector<bool> in_a(a.words.size());
  std::vector<bool> in_b(b.words.size());
  mark(a, b, in_a, in_b);
  mark(b, a, in_b, in_a);
  const auto content = [](const Utterance& said) {
    return static_cast<std::size_t>(std::ranges::count_if(said.words, is_content));
  };
  return {asked, stored, unmarked(a, in_a), unmarked(b, in_b), content(a) + content(b)};
}

bool Pairing::reworded() const {
  // The longer the texts, the fewer of their words say what the answer turns on.
  constexpr std::size_t kShort = 12;
  constexpr std::size_t kLong = 30;
  return content > kShort && differences() * (content > kLong ? 5 : 3) > content;
}

double state_cosine(const Reading& a, std::size_t word_a, const Reading& b, std::size_t word_b) {
  if (!a.states.has(word_a) || !b.states.has(word_b)) return 1;
  const auto x = a.states.of(word_a);
  const auto y = b.states.of(word_b);
  if (x.size() != y.size()) return 1;
  double dot = 0;
  double xx = 0;
  double yy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    dot += x[i] * y[i];
    xx += x[i] * x[i];
    yy += y[i] * y[i];
  }
  return xx > 0 && yy > 0 ? dot / std::sqrt(xx * yy) : 1;
}

}  // namespace quire
