// SPDX-License-Identifier: Apache-2.0
// Numbers, units, identifiers and quotations.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "semantic/guards.h"
#include "semantic/lexicon.h"

namespace quire {

namespace {

constexpr std::string_view kHanDigits[] = {"零", "一", "二", "三", "四", "五", "六", "七",
                                           "八", "九", "十", "百", "千", "万", "亿", "两"};

std::string show(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

// "II" to "XIX", which count parts and editions.
int roman(const Word& word) {
  if (!word.shouted || word.text.find_first_not_of("IVX") != std::string::npos) return 0;
  int total = 0;
  int before = 0;
  for (const char c : word.text) {
    const int value = c == 'I' ? 1 : c == 'V' ? 5 : 10;
    total += value > before ? value - 2 * before : value;
    before = value;
  }
  return total;
}

struct Numbers {
  std::map<std::string, int> counts;
  int spelled_few = 0;  // "one" may be a pronoun, "zero" part of a compound
};

Numbers numbers_of(const Utterance& said) {
  Numbers numbers;
  std::string han;
  const auto end_han = [&] {
    if (!han.empty()) ++numbers.counts[han];
    han.clear();
  };
  for (const Word& word : said.words) {
    if (word.kind == WordKind::kHan &&
        std::ranges::find(kHanDigits, word.text) != std::end(kHanDigits)) {
      han += word.text;
      continue;
    }
    end_han();
    if (word.kind == WordKind::kNumber) {
      if (word.spelled && word.value <= 1) {
        ++numbers.spelled_few;
      } else {
        ++numbers.counts[show(word.value)];
      }
    } else if (const int part = roman(word)) {
      ++numbers.counts[std::to_string(part)];
    }
  }
  end_han();
  // 一 is mostly part of a word: 一下, 一样.
  numbers.counts.erase("一");
  return numbers;
}

std::string list(const std::map<std::string, int>& counts) {
  std::string text;
  for (const auto& [key, count] : counts) text += (text.empty() ? "" : ", ") + key;
  return text.empty() ? "none" : text;
}

bool is_flag(const Word& word) { return word.text.size() > 1 && word.text[0] == '-'; }

// The names within an identifier; flags, single letters and C++ stay whole and keep their case.
void add_parts(const Word& word, Parts& parts) {
  if (is_flag(word) || word.folded == "c++" || word.folded == "c#") {
    parts.insert(word.text);
    return;
  }
  std::string part;
  const bool version = word.folded.size() > 1 && word.folded[0] == 'v' &&
                       std::isdigit(static_cast<unsigned char>(word.folded[1])) != 0;
  for (const char c : word.folded.substr(version ? 1 : 0) + " ") {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || (c & 0x80) != 0) {
      part += c;
    } else if (!part.empty()) {
      parts.insert(std::exchange(part, {}));
    }
  }
}

}  // namespace

Parts all_parts(const Utterance& said) {
  Parts parts;
  for (const Word& word : said.words) {
    if (word.kind == WordKind::kIdentifier) add_parts(word, parts);
    if (word.kind == WordKind::kWord) {
      parts.insert(word.folded);
      parts.insert(word.text);
    }
    if (word.kind == WordKind::kNumber) parts.insert(show(word.value));
  }
  return parts;
}

namespace {

// "module.name" where the other text has the name without its module.
bool named_alone(const Word& identifier, const Utterance& in) {
  const std::size_t dot = identifier.folded.rfind('.');
  if (dot == std::string::npos || identifier.folded.find('/') != std::string::npos) return false;
  const std::string_view name = std::string_view(identifier.folded).substr(dot + 1);
  return std::ranges::any_of(in.words, [&](const Word& w) { return w.folded == name; });
}

Objection missing_identifier(const Utterance& from, const Utterance& in) {
  const Parts there = all_parts(in);
  for (const Word& word : from.words) {
    if (word.kind != WordKind::kIdentifier) continue;
    Parts parts;
    add_parts(word, parts);
    if (named_alone(word, in)) continue;
    for (const std::string& part : parts) {
      if (!there.contains(part)) return word.text + " is only on one side";
    }
  }
  return std::nullopt;
}

Objection differing_quotations(const Utterance& a, const Utterance& b) {
  if (a.quoted.empty() || b.quoted.empty()) return std::nullopt;
  const std::set<std::string> x(a.quoted.begin(), a.quoted.end());
  const std::set<std::string> y(b.quoted.begin(), b.quoted.end());
  if (x == y) return std::nullopt;
  // One may be quoted on one side only.
  const auto spoken = [](const std::set<std::string>& quotes, const std::set<std::string>& other,
                         const Utterance& said) {
    const std::string text = read_utterance(said.text).text;
    return std::ranges::all_of(quotes, [&](const std::string& quote) {
      return other.contains(quote) || text.find(quote) != std::string::npos;
    });
  };
  if (spoken(x, y, b) || spoken(y, x, a)) return std::nullopt;
  return "\"" + *x.begin() + "\" against \"" + *y.begin() + "\"";
}

// The units of a text, and how often; with `counted`, those that follow a number.
std::map<std::string, int> units_of(const Utterance& said, bool only_counted = false) {
  std::map<std::string, int> units;
  for (std::size_t i = 0; i < said.words.size(); ++i) {
    const Word& word = said.words[i];
    if (word.kind != WordKind::kWord) continue;
    const bool counted =
        i > 0 && (said.words[i - 1].kind == WordKind::kNumber || said.words[i - 1].folded == "per");
    // "17 a", "5 in the": other words, unless they are written to the number.
    const bool other =
        (word.folded == "a" || word.folded == "in" || word.folded == "us") && !word.glued;
    const std::string_view unit = other ? std::string_view() : unit_of(word.folded, counted);
    if (!unit.empty() && (counted || !only_counted)) ++units[std::string(unit)];
  }
  return units;
}

std::map<std::string, int> without(std::map<std::string, int> from,
                                   const std::map<std::string, int>& other) {
  std::erase_if(from, [&](const auto& entry) { return other.contains(entry.first); });
  return from;
}

}  // namespace

Objection differing_numbers(const Pairing& pairing) {
  const Utterance& a = pairing.asked.said;
  const Utterance& b = pairing.stored.said;
  const Numbers x = numbers_of(a);
  const Numbers y = numbers_of(b);
  if (x.counts != y.counts) {
    std::map<std::string, int> ax = x.counts;
    std::map<std::string, int> by = y.counts;
    // A spelled one or zero answers for the digit on the other side.
    for (const char* digit : {"0", "1"}) {
      if (x.spelled_few > 0) by.erase(digit);
      if (y.spelled_few > 0) ax.erase(digit);
    }
    std::erase_if(ax, [&](const auto& e) { return y.counts.contains(e.first); });
    std::erase_if(by, [&](const auto& e) { return x.counts.contains(e.first); });
    if (!ax.empty() || !by.empty()) return list(ax) + " against " + list(by);
  }
  if (auto missing = missing_identifier(a, b)) return missing;
  if (auto missing = missing_identifier(b, a)) return missing;
  return differing_quotations(a, b);
}

Objection differing_units(const Pairing& pairing) {
  const auto x = units_of(pairing.asked.said);
  const auto y = units_of(pairing.stored.said);
  const auto only_x = without(x, y);
  const auto only_y = without(y, x);
  if (only_x.empty() && only_y.empty()) return std::nullopt;
  // "In which year" may be "when"; 5 km is never 5.
  if ((only_x.empty() && without(units_of(pairing.stored.said, true), x).empty()) ||
      (only_y.empty() && without(units_of(pairing.asked.said, true), y).empty())) {
    return std::nullopt;
  }
  return list(only_x) + " against " + list(only_y);
}

}  // namespace quire
