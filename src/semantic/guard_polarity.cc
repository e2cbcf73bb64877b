// SPDX-License-Identifier: Apache-2.0
// Negation and opposites. Each text is read as signs: a negator turns the next opposite round ("not
// enabled" is -, like "disabled") or, where none follows, stands for itself. Two texts agree when
// no pair of opposites has one sign here and the other there, and when what else is negative makes
// an even number on both sides or an odd one.
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "semantic/guards.h"
#include "semantic/lexicon.h"

namespace quire {

namespace {

constexpr std::array<std::string_view, 12> kPrefixes = {
    "un", "in", "im", "il", "ir", "dis", "non", "de", "anti", "mis", "counter", "a"};

// Nothing but the prefix tells these apart: "unlock" from "lock".
bool is_prefixed(std::string_view word, std::string_view base) {
  if (base.size() < 3 || !word.ends_with(base)) return false;
  const std::string_view prefix = word.substr(0, word.size() - base.size());
  return std::ranges::find(kPrefixes, prefix) != kPrefixes.end() &&
         (prefix != "a" || base.size() >= 5);
}

// "useless" beside "useful" or "use".
bool is_less(std::string_view word, std::string_view base) {
  const std::size_t at = word.ends_with("less")  ? word.size() - 4
                         : word.ends_with("les") ? word.size() - 3
                                                 : 0;
  if (at < 3 || !base.starts_with(word.substr(0, at))) return false;
  const std::string_view rest = base.substr(at);
  return rest.empty() || rest == "ful" || rest == "e";
}

bool is_negation_of(std::string_view word, std::string_view base) {
  return is_prefixed(word, base) || is_less(word, base);
}

// "unhelpful" alone: other prefixes are letters of too many words, and verbs like "unpack" deny
// nothing.
bool is_un_word(std::string_view word) {
  constexpr std::array<std::string_view, 9> kOthers = {"unit", "uniq",  "unif",  "univ", "unic",
                                                       "unio", "under", "uncle", "undo"};
  constexpr std::array<std::string_view, 9> kEndings = {"able", "ible", "ful", "ed", "al",
                                                        "ous",  "ic",   "ly",  "ary"};
  return word.starts_with("un") && word.size() >= 7 &&
         std::ranges::none_of(kOthers, [&](std::string_view o) { return word.starts_with(o); }) &&
         std::ranges::any_of(kEndings, [&](std::string_view e) { return word.ends_with(e); });
}

constexpr std::array<std::array<std::string_view, 2>, 3> kParticles = {
    {{"on", "off"}, {"in", "out"}, {"up", "down"}}};

// One end of an axis. Axes that the texts stand on at opposite ends are shared and compared; the
// negative end of another one counts as a negation.
struct Sign {
  std::string axis;
  bool negative = false;
  bool shared = false;
};

struct Polarity {
  std::map<std::string, std::set<bool>> shared;  // the signs on each shared axis
  std::map<std::string, std::string> words;      // and a word that stands there
  std::set<std::string> negated;                 // stems after a negator that is no opposite's
  int minuses = 0;
};

bool ends_scope(const Word& word) {
  return word.kind == WordKind::kPause || word.folded == "but" || word.folded == "because";
}

bool has_word(const Utterance& said, std::string_view folded) {
  return std::ranges::any_of(said.words, [&](const Word& w) { return w.folded == folded; });
}

class Signs {
 public:
  Signs(const Utterance& own, const Utterance& other) : own_(own), other_(other) {}

  Polarity read() {
    for (std::size_t i = 0; i < end_; ++i) step(i);
    close();
    return std::move(result_);
  }

  // What follows a comma and only asks for agreement is left out: ", isn't it?"
  Signs& without_tag() {
    std::size_t comma = own_.words.size();
    for (std::size_t i = 0; i < own_.words.size(); ++i) {
      if (own_.words[i].text == ",") comma = i;
    }
    if (comma == own_.words.size()) return *this;
    std::size_t spoken = 0;
    for (std::size_t i = comma; i < own_.words.size(); ++i) {
      if (!is_spoken(own_.words[i])) continue;
      if (!is_function_word(own_.words[i].folded) || ++spoken > 3) return *this;
    }
    if (spoken >= 2) end_ = comma;
    return *this;
  }

 private:
  bool is(std::size_t i, std::string_view text) const {
    return i < own_.words.size() && own_.words[i].folded == text;
  }

  void step(std::size_t i) {
    const Word& word = own_.words[i];
    if (ends_scope(word)) return close();
    if (negates(i)) {
      close();
      pending_ = true;
      return;
    }
    const Sign sign = sign_of(i);
    if (!sign.axis.empty()) return take(sign, word);
    if (!pending_ || !is_content(word)) return;
    constexpr std::size_t kScope = 2;
    scope_.push_back(word.stem);
    if (scope_.size() >= kScope) close();
  }

  void take(const Sign& sign, const Word& word) {
    const bool negative = sign.negative != pending_;
    if (sign.shared) {
      result_.shared[sign.axis].insert(negative);
      result_.words[sign.axis] = word.folded;
    } else if (negative) {
      ++result_.minuses;
    }
    pending_ = false;
    scope_.clear();
  }

  // A negation whose scope ends without an opposite stands for itself.
  void close() {
    if (pending_) {
      ++result_.minuses;
      result_.negated.insert(scope_.begin(), scope_.end());
    }
    pending_ = false;
    scope_.clear();
  }

  bool negates(std::size_t i) const {
    const Word& word = own_.words[i];
    if (word.kind != WordKind::kWord) return false;
    if (is(i + 1, "of") && word.folded == "out") return is_inside(i + 2);
    // "No, it …" answers; it denies nothing of what follows.
    if (word.folded == "no" && i + 1 < own_.words.size() && own_.words[i + 1].text == ",") {
      return false;
    }
    if (is(i + 1, "than") && word.folded == "other") return true;
    if (!is_negator(word.folded)) return false;
    if (word.folded != "not") return true;
    // "not only … but", "whether or not", "why not": nothing is denied.
    if ((is(i + 1, "only") || is(i + 1, "just")) && has_word(own_, "but")) return false;
    const bool last = i + 1 == own_.words.size() || !is_spoken(own_.words[i + 1]);
    if (i > 0 && is(i - 1, "or") && (last || has_word(own_, "whether"))) return false;
    return i == 0 || !is(i - 1, "why");
  }

  // "out of stock" where the other text says "in stock".
  bool is_inside(std::size_t i) const {
    if (i >= own_.words.size()) return false;
    for (std::size_t j = 1; j < other_.words.size(); ++j) {
      const std::string& before = other_.words[j - 1].folded;
      if (other_.words[j].stem == own_.words[i].stem &&
          (before == "in" || before == "on" || before == "into" || before == "within")) {
        return true;
      }
    }
    return false;
  }

  Sign sign_of(std::size_t i) const {
    const Word& word = own_.words[i];
    if (word.kind != WordKind::kWord) return {};
    if (Sign sign = particle(i); !sign.axis.empty()) return sign;
    for (const Word& far : other_.words) {
      if (far.kind != WordKind::kWord || far.stem == word.stem) continue;
      if (is_negation_of(word.stem, far.stem)) return {"=" + far.stem, true, true};
      if (is_negation_of(far.stem, word.stem)) return {"=" + word.stem, false, true};
    }
    Sign alone;
    if (switched_off(i)) return {"=switched", true, false};
    for (const Pole& pole : poles_of(word.stem)) {
      const std::string axis = "#" + std::to_string(pole.axis);
      const Pole opposite{pole.axis, !pole.negative, pole.strong};
      if (stands_at(own_, opposite)) continue;  // "enable or disable" says neither
      if (stands_at(other_, opposite)) return {axis, pole.negative, true};
      if (pole.strong) alone = {axis, pole.negative, false};
    }
    if (!alone.axis.empty()) return alone;
    if (is_un_word(word.folded)) return {"=" + word.stem.substr(2), true, false};
    return {};
  }

  // "turn … off" says "disable".
  bool switched_off(std::size_t i) const {
    constexpr std::size_t kBetween = 3;
    if (!is(i, "off")) return false;
    for (std::size_t j = i > kBetween ? i - kBetween : 0; j < i; ++j) {
      if (own_.words[j].stem == "turn" || own_.words[j].stem == "switch") return true;
    }
    return false;
  }

  static bool stands_at(const Utterance& said, const Pole& pole) {
    return std::ranges::any_of(said.words, [&](const Word& word) {
      return word.kind == WordKind::kWord &&
             std::ranges::any_of(poles_of(word.stem), [&](const Pole& p) {
               return p.axis == pole.axis && p.negative == pole.negative;
             });
    });
  }

  // turn on / turn off, log in / log out: opposites only beside the same word.
  Sign particle(std::size_t i) const {
    for (const auto& pair : kParticles) {
      const bool first = is(i, pair[0]);
      if (!first && !is(i, pair[1])) continue;
      const std::string_view opposite = first ? pair[1] : pair[0];
      for (std::size_t j = 0; j < other_.words.size(); ++j) {
        if (other_.words[j].folded != opposite || has_word(own_, opposite)) continue;
        const bool before = i > 0 && j > 0 && own_.words[i - 1].stem == other_.words[j - 1].stem;
        const bool behind = i + 1 < own_.words.size() && j + 1 < other_.words.size() &&
                            own_.words[i + 1].stem == other_.words[j + 1].stem;
        if (before || behind) return {std::string(pair[0]), !first, true};
      }
    }
    return {};
  }

  const Utterance& own_;
  const Utterance& other_;
  std::size_t end_ = own_.words.size();
  Polarity result_;
  bool pending_ = false;
  std::vector<std::string> scope_;  // content words since the negator
};

int han_negations(const Utterance& said) {
  constexpr std::array<std::string_view, 7> kNegations = {"不", "没", "未", "非", "无", "别", "勿"};
  int count = 0;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    if (said.words[i].kind != WordKind::kHan) continue;
    if (std::ranges::find(kNegations, said.words[i].text) == kNegations.end()) continue;
    std::string_view next;
    if (i + 1 < said.words.size()) next = said.words[i + 1].text;
    // 能不能, 是不是: a question. 别人, 非常: parts of other words.
    const bool question = i > 0 && said.words[i - 1].text == next;
    if (!question && next != "常" && next != "人") ++count;
  }
  return count;
}

// A word that `x` denies and the other text says.
std::string denied_here_only(const Polarity& x, const Polarity& y, const Utterance& other) {
  for (const std::string& stem : x.negated) {
    if (has_stem(other, stem) && !y.negated.contains(stem)) return stem;
  }
  return {};
}

}  // namespace

bool on_one_axis(const Word& a, const Word& b) {
  if (is_negation_of(a.stem, b.stem) || is_negation_of(b.stem, a.stem)) return true;
  for (const Pole& x : poles_of(a.stem)) {
    for (const Pole& y : poles_of(b.stem)) {
      if (x.axis == y.axis) return true;
    }
  }
  return false;
}

Objection opposite_polarity(const Pairing& pairing) {
  const Utterance& a = pairing.asked.said;
  const Utterance& b = pairing.stored.said;
  const Polarity x = Signs(a, b).without_tag().read();
  const Polarity y = Signs(b, a).without_tag().read();
  if (is_reversed_comparison(pairing)) return std::nullopt;
  for (const auto& [axis, signs] : x.shared) {
    const auto found = y.shared.find(axis);
    if (found == y.shared.end()) continue;
    const bool common =
        std::ranges::any_of(signs, [&](bool s) { return found->second.contains(s); });
    if (!common) return x.words.at(axis) + " against " + y.words.at(axis);
  }
  if (pairing.reworded()) return std::nullopt;
  if ((x.minuses + han_negations(a)) % 2 != (y.minuses + han_negations(b)) % 2) {
    return "a negation on one side";
  }
  const std::string here = denied_here_only(x, y, b);
  const std::string there = denied_here_only(y, x, a);
  if (pairing.differences() <= 2 && !here.empty() && !there.empty()) {
    return "not " + here + " against not " + there;
  }
  return std::nullopt;
}

}  // namespace quire
