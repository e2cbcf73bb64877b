// SPDX-License-Identifier: Apache-2.0
#include "semantic/number_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace quire {

namespace {

using Value = std::pair<std::string_view, double>;

constexpr Value kUnits[] = {{"zero", 0},      {"one", 1},      {"two", 2},        {"three", 3},
                            {"four", 4},      {"five", 5},     {"six", 6},        {"seven", 7},
                            {"eight", 8},     {"nine", 9},     {"ten", 10},       {"eleven", 11},
                            {"twelve", 12},   {"dozen", 12},   {"thirteen", 13},  {"fourteen", 14},
                            {"fifteen", 15},  {"sixteen", 16}, {"seventeen", 17}, {"eighteen", 18},
                            {"nineteen", 19}, {"twice", 2},    {"thrice", 3}};
constexpr Value kTens[] = {{"twenty", 20}, {"thirty", 30},  {"forty", 40},  {"fifty", 50},
                           {"sixty", 60},  {"seventy", 70}, {"eighty", 80}, {"ninety", 90}};
constexpr Value kMultipliers[] = {
    {"hundred", 1e2}, {"thousand", 1e3}, {"million", 1e6}, {"billion", 1e9}, {"trillion", 1e12}};
// "First" is the opposite of "last" more often than a number.
constexpr Value kOrdinals[] = {
    {"second", 2},   {"third", 3},      {"fourth", 4},     {"fifth", 5},  {"sixth", 6},
    {"seventh", 7},  {"eighth", 8},     {"ninth", 9},      {"tenth", 10}, {"eleventh", 11},
    {"twelfth", 12}, {"twentieth", 20}, {"hundredth", 100}};
constexpr Value kSuffixes[] = {{"k", 1e3}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"bn", 1e9}};
constexpr std::pair<std::string_view, std::string_view> kCurrencies[] = {
    {"$", "dollar"}, {"€", "euro"}, {"£", "pound"}, {"¥", "yen"}, {"₹", "rupee"}, {"₩", "won"}};

template <std::size_t N>
std::optional<double> find(const Value (&table)[N], std::string_view word) {
  const auto* found = std::ranges::find(table, word, &Value::first);
  if (found == std::end(table)) return std::nullopt;
  return found->second;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// A sign or currency before the digits.
void take_front(std::string_view& piece, WrittenNumber& number, bool& negative) {
  const auto sign = [&] {
    if (!piece.starts_with("-") && !piece.starts_with("+")) return;
    negative = piece.front() == '-';
    piece.remove_prefix(1);
  };
  sign();
  for (const auto& [symbol, name] : kCurrencies) {
    if (!piece.starts_with(symbol)) continue;
    piece.remove_prefix(symbol.size());
    number.around.emplace_back(name);
    sign();
    return;
  }
}

// Digits with separators of thousands and a fraction; empty if malformed.
std::string take_digits(std::string_view& piece) {
  std::string digits;
  std::size_t i = 0;
  bool fraction = false;
  for (; i < piece.size(); ++i) {
    const char c = piece[i];
    const bool more = i + 1 < piece.size() && is_digit(piece[i + 1]);
    if (is_digit(c)) {
      digits += c;
    } else if (c == ',' && !fraction && more && i > 0) {
      std::size_t run = 1;
      while (i + run < piece.size() && is_digit(piece[i + run])) ++run;
      if (run != 4) return {};
    } else if (c == '.' && more) {
      if (fraction) return {};
      fraction = true;
      digits += c;
    } else {
      break;
    }
  }
  piece.remove_prefix(i);
  return digits.starts_with('.') ? "0" + digits : digits;
}

// What follows the digits: %, a currency, a suffix that multiplies, an ordinal's, a unit.
bool take_back(std::string_view piece, WrittenNumber& number) {
  if (piece.empty()) return true;
  if (piece == "st" || piece == "nd" || piece == "rd" || piece == "th") return true;
  if (piece == "%") {
    number.around.emplace_back("percent");
    return true;
  }
  for (const auto& [symbol, name] : kCurrencies) {
    if (piece != symbol) continue;
    number.around.emplace_back(name);
    return true;
  }
  if (const auto factor = find(kSuffixes, piece)) {
    number.value *= *factor;
    return true;
  }
  if (piece.starts_with("-")) piece.remove_prefix(1);
  if (piece.empty() || !std::ranges::all_of(piece, is_letter)) return false;
  number.around.emplace_back(piece);
  return true;
}

}  // namespace

std::optional<WrittenNumber> read_number(std::string_view piece) {
  WrittenNumber number;
  bool negative = false;
  take_front(piece, number, negative);
  if (piece.empty() || (!is_digit(piece[0]) && piece[0] != '.')) return std::nullopt;
  if (piece.starts_with("0x") || piece.starts_with("0X")) return std::nullopt;
  const std::string digits = take_digits(piece);
  if (digits.empty()) return std::nullopt;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (negative) number.value = -number.value;
  if (!take_back(piece, number)) return std::nullopt;
  return number;
}

namespace {

struct Joined {
  double total = 0;    // thousands and above that are complete
  double current = 0;  // below
  std::size_t used = 0;
};

// The number that starts at words[at]; used = 0 if none does.
Joined number_at(const std::vector<Word>& words, std::size_t at) {
  Joined n;
  bool tens = false;
  for (std::size_t i = at; i < words.size(); ++i) {
    const Word& word = words[i];
    if (const auto factor = find(kMultipliers, word.folded)) {
      if (n.used == 0) break;
      if (*factor == 1e2) {
        n.current *= 100;
      } else {
        n.total += n.current * *factor;
        n.current = 0;
      }
      tens = false;
    } else if (word.kind == WordKind::kNumber && n.used == 0) {
      n.current = word.value;
    } else if (word.kind == WordKind::kNumber) {
      break;
    } else if (const auto ten = find(kTens, word.folded)) {
      if (n.used != 0 && std::fmod(n.current, 100) != 0) break;
      n.current += *ten;
      tens = true;
    } else if (const auto unit = find(kUnits, word.folded)) {
      const bool fits = tens ? *unit > 0 && *unit < 10 : std::fmod(n.current, 100) == 0;
      if (n.used != 0 && !fits) break;
      n.current += *unit;
      tens = false;
    } else if (word.folded == "and" && n.used != 0 && i + 1 < words.size() &&
               find(kMultipliers, words[i - 1].folded) &&
               (find(kUnits, words[i + 1].folded) || find(kTens, words[i + 1].folded))) {
      continue;
    } else {
      break;
    }
    n.used = i + 1 - at;
  }
  return n;
}

// "5 seconds", "per second", "a second": time, not order.
bool counts_time(const std::vector<Word>& before_it) {
  if (before_it.empty()) return false;
  const Word& before = before_it.back();
  return before.kind == WordKind::kNumber || before.folded == "per" || before.folded == "a" ||
         before.folded == "each" || before.folded == "every";
}

}  // namespace

void join_number_words(std::vector<Word>& words) {
  std::vector<Word> joined;
  for (std::size_t i = 0; i < words.size();) {
    const Joined number = number_at(words, i);
    if (number.used == 0) {
      Word word = std::move(words[i]);
      const auto ordinal = find(kOrdinals, word.folded);
      if (ordinal && !counts_time(joined)) {
        word.kind = WordKind::kNumber;
        word.value = *ordinal;
        word.spelled = true;
      }
      joined.push_back(std::move(word));
      ++i;
      continue;
    }
    Word word = words[i];
    word.spelled = word.kind != WordKind::kNumber;
    word.kind = WordKind::kNumber;
    word.value = number.total + number.current;
    joined.push_back(std::move(word));
    i += number.used;
  }
  words = std::move(joined);
}

}  // namespace quire
