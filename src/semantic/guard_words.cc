// SPDX-License-Identifier: Apache-2.0
// Names, referents and quantifiers, one exchanged word.
#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "semantic/guards.h"
#include "semantic/lexicon.h"

namespace quire {

namespace {

// Names among the words that `other` does not have, not even within an identifier.
std::vector<std::size_t> capitals(const Utterance& said, const std::vector<std::size_t>& only,
                                  const Utterance& other) {
  std::vector<std::size_t> names;
  const Parts parts = all_parts(other);
  for (const std::size_t i : only) {
    if (said.words[i].capital && !parts.contains(said.words[i].folded)) names.push_back(i);
  }
  return names;
}

// What a word says about who, how many or how firmly. Two texts conflict when both say something
// of one kind and nothing of it is the same.
struct Class {
  std::string_view kind;
  std::string_view value;
  std::string_view words;  // each between spaces
};

constexpr Class kClasses[] = {
    {"whose", "mine", " my mine our ours "},
    {"whose", "yours", " your yours "},
    {"whose", "his", " his "},
    {"whose", "hers", " her hers "},
    {"whose", "theirs", " their theirs "},
    {"quantity", "all", " all every each always everyone everybody everything "},
    {"quantity", "some", " some sometimes someone somebody something "},
    {"quantity", "none", " none nobody nothing never "},
    {"firmness", "must", " must required mandatory "},
    {"firmness", "may", " can could may might "},
    {"firmness", "should", " should ought "},
};

std::set<std::string_view> values_of(const Utterance& said, std::string_view kind) {
  std::set<std::string_view> values;
  for (const Word& word : said.words) {
    if (word.kind != WordKind::kWord) continue;
    for (const Class& c : kClasses) {
      if (c.kind == kind && c.words.find(" " + word.folded + " ") != std::string_view::npos) {
        values.insert(c.value);
      }
    }
  }
  return values;
}

Objection conflict(const Utterance& a, const Utterance& b, std::string_view kind) {
  const auto x = values_of(a, kind);
  const auto y = values_of(b, kind);
  if (x.empty() || y.empty()) return std::nullopt;
  const bool common =
      std::ranges::any_of(x, [&](std::string_view value) { return y.contains(value); });
  if (common) return std::nullopt;
  return std::string(*x.begin()) + " against " + std::string(*y.begin());
}

// What kind of answer is asked for; empty if the text does not say.
std::string question_of(const Utterance& said) {
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    const std::string& word = said.words[i].folded;
    const std::string next = i + 1 < said.words.size() ? said.words[i + 1].folded : std::string();
    if (word == "who" || word == "whom" || word == "whose") return "who";
    if (word == "when") return "when";
    if (word == "where") return "where";
    if (word == "why") return "why";
    if (word == "how") {
      if (next == "much" || next == "many" || next == "long" || next == "often" || next == "far") {
        return "how " + next;
      }
      if (next == "do" || next == "can" || next == "to" || next == "should" || next == "does") {
        return "how";
      }
      return {};
    }
  }
  return {};
}

Objection differing_question(const Utterance& a, const Utterance& b) {
  const std::string x = question_of(a);
  const std::string y = question_of(b);
  if (x.empty() || y.empty() || x == y) return std::nullopt;
  // "Where can I download" asks how to.
  if ((x == "how" && y == "where") || (x == "where" && y == "how")) return std::nullopt;
  return x + " against " + y;
}

bool has_phrase(const Utterance& said, std::string_view first, std::string_view second) {
  for (std::size_t i = 0; i + 1 < said.words.size(); ++i) {
    if (said.words[i].folded == first && said.words[i + 1].folded == second) return true;
  }
  return false;
}

bool has_word(const Utterance& said, std::string_view word) {
  return std::ranges::any_of(said.words, [&](const Word& w) { return w.folded == word; });
}

Objection differing_bounds(const Utterance& a, const Utterance& b) {
  for (const std::array<std::string_view, 2> pair :
       {std::array<std::string_view, 2>{"least", "most"}}) {
    const bool a_low = has_phrase(a, "at", pair[0]);
    const bool a_high = has_phrase(a, "at", pair[1]);
    const bool b_low = has_phrase(b, "at", pair[0]);
    const bool b_high = has_phrase(b, "at", pair[1]);
    if ((a_low && b_high && !b_low) || (a_high && b_low && !b_high))
      return "at least against at most";
  }
  if (has_word(a, "only") != has_word(b, "only")) return "only on one side";
  if (has_phrase(a, "every", "other") != has_phrase(b, "every", "other")) {
    return "every other on one side";
  }
  return std::nullopt;
}

}  // namespace

Objection differing_entities(const Pairing& pairing) {
  const auto a = capitals(pairing.asked.said, pairing.only_asked, pairing.stored.said);
  const auto b = capitals(pairing.stored.said, pairing.only_stored, pairing.asked.said);
  if (a.empty() && b.empty()) return std::nullopt;
  if ((a.empty() || b.empty()) && pairing.reworded()) return std::nullopt;
  const auto name = [](const Utterance& said, const std::vector<std::size_t>& names) {
    return names.empty() ? std::string("none") : said.words[names[0]].text;
  };
  return name(pairing.asked.said, a) + " against " + name(pairing.stored.said, b);
}

Objection differing_referents(const Pairing& pairing) {
  const Utterance& a = pairing.asked.said;
  const Utterance& b = pairing.stored.said;
  // A text that says the whole thing otherwise may say these otherwise too.
  constexpr std::size_t kMostDifferences = 4;
  for (const std::string_view kind : {"whose", "quantity", "firmness"}) {
    if (pairing.differences() > kMostDifferences) break;
    if (auto found = conflict(a, b, kind)) return found;
  }
  if (auto found = differing_question(a, b)) return found;
  if (pairing.differences() > kMostDifferences) return std::nullopt;
  return differing_bounds(a, b);
}

namespace {

// Content words in order, but for one.
std::vector<std::string_view> others(const Utterance& said, std::size_t but) {
  std::vector<std::string_view> stems;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    if (i != but && is_content(said.words[i])) stems.push_back(said.words[i].stem);
  }
  return stems;
}

// All words but one, as they are.
std::vector<std::string_view> frame(const Utterance& said, std::size_t but) {
  std::vector<std::string_view> words;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    const std::string& word = said.words[i].folded;
    if (i != but && is_spoken(said.words[i]) && word != "a" && word != "an") words.push_back(word);
  }
  return words;
}

std::size_t place(const Utterance& said, std::size_t word) {
  return static_cast<std::size_t>(std::count_if(
      said.words.begin(), said.words.begin() + static_cast<std::ptrdiff_t>(word), is_content));
}

// The Chinese characters of a text, but for those that only make it a question or polite.
std::vector<std::string> han_of(const Utterance& said) {
  constexpr std::array<std::string_view, 8> kParticles = {"吗", "呢", "啊", "吧",
                                                          "了", "的", "您", "请"};
  std::vector<std::string> han;
  for (const Word& word : said.words) {
    if (word.kind != WordKind::kHan) continue;
    if (std::ranges::find(kParticles, word.text) == kParticles.end()) han.push_back(word.text);
  }
  return han;
}

// One word of one or two characters in place of another. Many characters have no state of their
// own, so the words alone decide.
Objection substituted_han(const Utterance& a, const Utterance& b) {
  constexpr std::array<std::string_view, 3> kHow = {"如何", "怎么", "怎样"};
  const std::vector<std::string> x = han_of(a);
  const std::vector<std::string> y = han_of(b);
  if (x.size() != y.size()) return std::nullopt;
  std::string only_x;
  std::string only_y;
  std::size_t first = x.size();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (x[i] == y[i]) continue;
    first = std::min(first, i);
    if (i > first + 1) return std::nullopt;
    only_x += x[i];
    only_y += y[i];
  }
  const auto asks_how = [&](const std::string& word) {
    return std::ranges::find(kHow, word) != kHow.end();
  };
  if (only_x.empty() || (asks_how(only_x) && asks_how(only_y))) return std::nullopt;
  return only_x + " against " + only_y;
}

}  // namespace

Objection substituted_word(const Pairing& pairing) {
  if (auto han = substituted_han(pairing.asked.said, pairing.stored.said)) return han;
  // Below it two words in like places are mostly different things.
  constexpr double kSameThing = 0.70;
  // Where more than the word changed, only what has nothing to do with it.
  constexpr double kRelated = 0.50;
  if (pairing.only_asked.size() != 1 || pairing.only_stored.size() != 1) return std::nullopt;
  const std::size_t x = pairing.only_asked[0];
  const std::size_t y = pairing.only_stored[0];
  const Utterance& a = pairing.asked.said;
  const Utterance& b = pairing.stored.said;
  if (on_one_axis(a.words[x], b.words[y])) return std::nullopt;  // polarity's
  // A sentence that was turned round was reworded: there a synonym says little.
  if (place(a, x) != place(b, y) || others(a, x).size() != others(b, y).size()) return std::nullopt;
  const double cosine = state_cosine(pairing.asked, x, pairing.stored, y);
  if (cosine >= (frame(a, x) == frame(b, y) ? kSameThing : kRelated)) return std::nullopt;
  return a.words[x].folded + " against " + b.words[y].folded;
}

}  // namespace quire
