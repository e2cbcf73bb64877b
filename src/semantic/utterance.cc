// SPDX-License-Identifier: Apache-2.0
#include "semantic/utterance.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "semantic/number_words.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

bool is_ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_han(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c < 0x30000);
}

// One way to write quotation marks, apostrophes, dashes and full-width forms.
std::string plain_marks(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 17> kForms = {{{"’", "'"},
                                                                                     {"‘", "'"},
                                                                                     {"“", "\""},
                                                                                     {"”", "\""},
                                                                                     {"„", "\""},
                                                                                     {"«", "\""},
                                                                                     {"»", "\""},
                                                                                     {"–", "-"},
                                                                                     {"−", "-"},
                                                                                     {"，", ","},
                                                                                     {"。", "."},
                                                                                     {"？", "?"},
                                                                                     {"！", "!"},
                                                                                     {"：", ":"},
                                                                                     {"；", ";"},
                                                                                     {"（", "("},
                                                                                     {"）", ")"}}};
  std::string out = normalized(text, NormalForm::kNfc);
  for (const auto& [from, to] : kForms) {
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at)) {
      out.replace(at, from.size(), to);
      at += to.size();
    }
  }
  return out;
}

// What stands between pairs of quotation marks.
std::vector<std::string> quotations(std::string_view text) {
  std::vector<std::string> found;
  for (std::size_t open = text.find('"'); open != std::string_view::npos;) {
    const std::size_t close = text.find('"', open + 1);
    if (close == std::string_view::npos) break;
    if (close > open + 1) found.push_back(lower_case(text.substr(open + 1, close - open - 1)));
    open = text.find('"', close + 1);
  }
  return found;
}

class Reader {
 public:
  explicit Reader(std::vector<Word>& words) : words_(words) {}

  void read(std::string_view text) {
    std::size_t begin = 0;
    for (std::size_t at = 0; at < text.size();) {
      const Utf8Character c = character_at(text, at);
      const bool han = is_han(c.value);
      if (han || is_white_space(c.value)) {
        piece(text.substr(begin, at - begin));
        begin = at + c.length;
        if (han) add(WordKind::kHan, text.substr(at, c.length));
      }
      at += c.length;
    }
    piece(text.substr(begin));
  }

 private:
  static constexpr std::string_view kOpening = "([{\"'`*";
  static constexpr std::string_view kClosing = ")]}\"'`*,;:.!?";

  void piece(std::string_view text) {
    const bool code = text.size() > 2 && text.front() == '`' && text.find('`', 1) != text.npos;
    while (!text.empty() && kOpening.find(text.front()) != std::string_view::npos) {
      if (text.front() == '(' || text.front() == '[') pause(",");
      text.remove_prefix(1);
    }
    std::string pauses;
    const bool call = text.ends_with("()") || text.find("()") != std::string_view::npos;
    while (!text.empty() && kClosing.find(text.back()) != std::string_view::npos) {
      if (text.ends_with("()")) break;
      pauses.insert(pauses.begin(), text.back());
      text.remove_suffix(1);
    }
    if (!text.empty()) call || code ? identifier(text) : body(text);
    for (const char mark : pauses) pause(std::string_view(&mark, 1));
  }

  void body(std::string_view text) {
    if (text == "1st") return add(WordKind::kWord, "first");
    if (const auto number = read_number(text)) return add_number(*number);
    if (iso_date(text)) return;
    if (looks_like_identifier(text)) return identifier(text);
    // What is left: words joined by hyphens, slashes and the like.
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const bool joint = i < text.size() && std::string_view("-/,;:!?()[]\"&|—…").find(text[i]) !=
                                                std::string_view::npos;
      if (i < text.size() && !joint) continue;
      const std::string_view part = text.substr(begin, i - begin);
      begin = i + 1;
      if (part.empty()) continue;
      const auto number =
          begin == text.size() + 1 && part == text ? std::nullopt : read_number(part);
      number ? add_number(*number) : contraction(part);
    }
  }

  static bool looks_like_identifier(std::string_view text) {
    if (text == "C++" || text == "c++" || text == "C#" || text == "c#") return true;
    const bool letters = std::ranges::any_of(text, is_ascii_letter);
    const bool digits = std::ranges::any_of(text, is_digit);
    if (!letters && !digits) return text.size() > 1 && text.find_first_not_of("<>=") == text.npos;
    if (text.size() > 1 && text[0] == '-' && (is_ascii_letter(text[1]) || text[1] == '-'))
      return true;
    if (text.find_first_of("_@=\\<>{}$~^%+#") != text.npos || text.find("::") != text.npos)
      return true;
    if (digits && letters && text.find('-') == text.npos) return true;
    const std::size_t slash = text.find('/');
    if (slash != text.npos && (slash == 0 || text.find('/', slash + 1) != text.npos ||
                               text.find('.') != text.npos || digits)) {
      return true;
    }
    if (digits) return true;  // 3.11.2, 12:30, 03/04/2021
    const std::size_t dot = text.find('.');
    return dot != text.npos && dot > 1 && text.find('-') == text.npos &&
           !std::ranges::all_of(text, [](char c) { return is_upper(c) || c == '.'; });
  }

  bool iso_date(std::string_view text) {
    constexpr std::string_view kMonths[] = {"january",   "february", "march",    "april",
                                            "may",       "june",     "july",     "august",
                                            "september", "october",  "november", "december"};
    const auto digit = [&](std::size_t i) { return is_digit(text[i]); };
    if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
    for (const std::size_t i : {0, 1, 2, 3, 5, 6, 8, 9}) {
      if (!digit(i)) return false;
    }
    const int month = (text[5] - '0') * 10 + (text[6] - '0');
    if (month < 1 || month > 12) return false;
    add_number({.value = static_cast<double>((text[8] - '0') * 10 + (text[9] - '0'))});
    add(WordKind::kWord, kMonths[month - 1]);
    add_number({.value = *number_of(text.substr(0, 4))});
    return true;
  }

  static std::optional<double> number_of(std::string_view digits) {
    const auto number = read_number(digits);
    return number ? std::optional(number->value) : std::nullopt;
  }

  // it's, don't, cannot: as two words.
  void contraction(std::string_view text) {
    const std::string low = lower_case(text);
    const auto split = [&](std::size_t keep, std::string_view second) {
      if (keep > 0) add(WordKind::kWord, text.substr(0, keep));
      add(WordKind::kWord, second);
    };
    if (low == "can't" || low == "cannot") return split(3, "not");
    if (low == "won't") return add_two("will", "not");
    if (low == "ain't") return add_two("is", "not");
    if (low.ends_with("n't")) return split(low.size() - 3, "not");
    if (low.ends_with("'re")) return split(low.size() - 3, "are");
    if (low.ends_with("'ve")) return split(low.size() - 3, "have");
    if (low.ends_with("'ll")) return split(low.size() - 3, "will");
    if (low.ends_with("'m")) return split(low.size() - 2, "am");
    if (low.ends_with("'d")) return split(low.size() - 2, "would");
    if (low.ends_with("'s")) {
      const std::string head = low.substr(0, low.size() - 2);
      constexpr std::string_view kPronouns[] = {"it",   "that", "there", "he",  "she",
                                                "what", "who",  "where", "how", "when",
                                                "why",  "here", "let"};
      const bool verb = std::ranges::find(kPronouns, head) != std::end(kPronouns);
      if (verb) return split(head.size(), head == "let" ? "us" : "is");
      return add(WordKind::kWord, text.substr(0, head.size()));
    }
    add(WordKind::kWord, text);
  }

  void add_two(std::string_view a, std::string_view b) {
    add(WordKind::kWord, a);
    add(WordKind::kWord, b);
  }

  void pause(std::string_view mark) {
    if (!words_.empty() && words_.back().kind == WordKind::kPause && words_.back().text == mark)
      return;
    Word word;
    word.kind = WordKind::kPause;
    word.text = mark;
    words_.push_back(std::move(word));
  }

  void identifier(std::string_view text) { add(WordKind::kIdentifier, text); }

  void add_number(const WrittenNumber& number) {
    Word word;
    word.kind = WordKind::kNumber;
    word.value = number.value;
    words_.push_back(std::move(word));
    for (const std::string& unit : number.around) {
      const std::size_t before = words_.size();
      add(WordKind::kWord, unit);
      if (words_.size() > before) words_.back().glued = true;
    }
  }

  void add(WordKind kind, std::string_view text) {
    Word word;
    word.kind = kind;
    word.text = text;
    word.folded = lower_case(text);
    if (kind == WordKind::kWord) {
      std::erase_if(word.folded, [](char c) { return c == '\'' || c == '.'; });
      if (word.folded.empty()) return;
      word.stem = stem_of(word.folded);
    } else {
      word.stem = word.folded;
    }
    words_.push_back(std::move(word));
  }

  std::vector<Word>& words_;
};

// "Good morning" is a greeting, whatever the time of day.
void join_greetings(std::vector<Word>& words) {
  for (std::size_t i = 0; i + 1 < words.size(); ++i) {
    const std::string& next = words[i + 1].folded;
    if (words[i].folded != "good" ||
        (next != "morning" && next != "afternoon" && next != "evening" && next != "day")) {
      continue;
    }
    words[i].folded = words[i].stem = "hello";
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i) + 1);
  }
}

// A capital counts where the sentence does not ask for one and the text is not all capitals.
void mark_capitals(std::vector<Word>& words) {
  std::size_t upper = 0;
  std::size_t total = 0;
  for (const Word& word : words) {
    if (word.kind != WordKind::kWord || word.text.empty()) continue;
    ++total;
    if (std::ranges::none_of(word.text, [](char c) { return c >= 'a' && c <= 'z'; })) ++upper;
  }
  const bool all = total > 1 && upper == total;
  bool start = true;
  for (Word& word : words) {
    if (word.kind == WordKind::kPause) {
      if (word.text == "." || word.text == "!" || word.text == "?" || word.text == ":")
        start = true;
      continue;
    }
    if (word.kind == WordKind::kWord && !word.text.empty() && !all) {
      const auto uppers = static_cast<std::size_t>(std::ranges::count_if(word.text, is_upper));
      word.shouted = uppers >= 2 &&
                     std::ranges::none_of(word.text, [](char c) { return c >= 'a' && c <= 'z'; });
      const bool inner = uppers >= 1 && std::ranges::any_of(word.text.substr(1), is_upper);
      const bool initial = is_upper(word.text[0]) && !start && word.folded != "i";
      word.capital = inner || initial;
    }
    start = false;
  }
}

}  // namespace

Utterance read_utterance(std::string_view text) {
  std::string valid = to_valid_utf8(text);
  const bool whole = valid.size() <= kMostRead;
  if (!whole) {
    std::size_t cut = kMostRead;
    while ((static_cast<unsigned char>(valid[cut]) & 0xC0U) == 0x80U) --cut;
    valid.resize(cut);
  }
  Utterance utterance;
  utterance.whole = whole;
  utterance.text = plain_marks(valid);
  utterance.quoted = quotations(utterance.text);
  Reader(utterance.words).read(utterance.text);
  mark_capitals(utterance.words);
  join_greetings(utterance.words);
  join_number_words(utterance.words);
  return utterance;
}

bool is_spoken(const Word& word) { return word.kind != WordKind::kPause; }

bool has_stem(const Utterance& utterance, std::string_view stem) {
  return std::ranges::any_of(utterance.words, [&](const Word& w) { return w.stem == stem; });
}

}  // namespace quire
