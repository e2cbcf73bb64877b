// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "semantic/utterance.h"

namespace quire {

namespace {

using Form = std::pair<std::string_view, std::string_view>;

// Irregular forms of frequent verbs and nouns, by the base form.
constexpr Form kIrregular[] = {
    {"bought", "buy"},    {"sold", "sell"},       {"won", "win"},       {"lost", "lose"},
    {"built", "build"},   {"paid", "pay"},        {"made", "make"},     {"got", "get"},
    {"wrote", "write"},   {"written", "write"},   {"sent", "send"},     {"left", "leave"},
    {"went", "go"},       {"gone", "go"},         {"took", "take"},     {"taken", "take"},
    {"gave", "give"},     {"given", "give"},      {"found", "find"},    {"kept", "keep"},
    {"held", "hold"},     {"ran", "run"},         {"began", "begin"},   {"begun", "begin"},
    {"chose", "choose"},  {"chosen", "choose"},   {"broke", "break"},   {"broken", "break"},
    {"spoke", "speak"},   {"spoken", "speak"},    {"drove", "drive"},   {"knew", "know"},
    {"known", "know"},    {"saw", "see"},         {"seen", "see"},      {"said", "say"},
    {"told", "tell"},     {"thought", "think"},   {"came", "come"},     {"became", "become"},
    {"led", "lead"},      {"met", "meet"},        {"spent", "spend"},   {"lent", "lend"},
    {"taught", "teach"},  {"caught", "catch"},    {"felt", "feel"},     {"meant", "mean"},
    {"ate", "eat"},       {"eaten", "eat"},       {"drank", "drink"},   {"stole", "steal"},
    {"grew", "grow"},     {"grown", "grow"},      {"fell", "fall"},     {"men", "man"},
    {"women", "woman"},   {"children", "child"},  {"people", "person"}, {"feet", "foot"},
    {"better", "good"},   {"best", "good"},       {"worse", "bad"},     {"worst", "bad"},
    {"has", "have"},      {"had", "have"},        {"does", "do"},       {"did", "do"},
    {"done", "do"},       {"died", "die"},        {"dying", "die"},     {"lying", "lie"},
    {"forgot", "forget"}, {"forgotten", "forget"}};

bool is_vowel(char c) { return std::string_view("aeiouy").find(c) != std::string_view::npos; }

bool has_vowel(std::string_view text) { return std::ranges::any_of(text, is_vowel); }

// The end of a word after -ed or -ing was cut: "stopp" is "stop".
void undouble(std::string& word) {
  const std::size_t n = word.size();
  if (n < 4 || word[n - 1] != word[n - 2] || is_vowel(word[n - 1])) return;
  if (word[n - 1] == 's') return;
  word.pop_back();
}

void cut_plural(std::string& word) {
  if (!word.ends_with('s') || word.ends_with("ss") || word.ends_with("us") ||
      word.ends_with("is")) {
    return;
  }
  if (word.ends_with("ies") && word.size() > 4) {
    word.replace(word.size() - 3, 3, "y");
  } else if (word.ends_with("sses") || word.ends_with("xes") || word.ends_with("ches") ||
             word.ends_with("shes")) {
    word.resize(word.size() - 2);
  } else {
    word.pop_back();
  }
}

void cut_ending(std::string& word, std::string_view ending) {
  if (!word.ends_with(ending)) return;
  const std::string_view rest = std::string_view(word).substr(0, word.size() - ending.size());
  if (rest.size() < 3 || !has_vowel(rest)) return;
  word.resize(rest.size());
  if (ending != "ly") undouble(word);
}

// British to American, where the rule is regular.
void americanize(std::string& word) {
  if (word.size() >= 6) {
    for (const auto& [from, to] : {Form{"isation", "ization"},
                                   {"ising", "izing"},
                                   {"ised", "ized"},
                                   {"ise", "ize"},
                                   {"yse", "yze"},
                                   {"ogue", "og"},
                                   {"tre", "ter"}}) {
      if (word.ends_with(from)) word.replace(word.size() - from.size(), from.size(), to);
    }
    const std::size_t our = word.find("our", 2);
    if (our != std::string::npos) word.replace(our, 3, "or");
  } else if (word.ends_with("olour")) {
    word.replace(word.size() - 3, 3, "or");
  }
}

}  // namespace

std::string stem_of(std::string_view folded) {
  for (const auto& [form, base] : kIrregular) {
    if (folded == form) return std::string(base);
  }
  std::string word(folded);
  if (word.size() <= 3) return word;
  cut_plural(word);
  if (word.size() > 4) {
    americanize(word);
    cut_ending(word, "ing");
    cut_ending(word, "ed");
    if (word.size() > 5) cut_ending(word, "ly");
  }
  if (word.size() > 3 && word.ends_with('e')) word.pop_back();
  if (word.size() > 3 && word.ends_with('y')) word.back() = 'i';
  if (word.size() > 4) undouble(word);
  return word;
}

}  // namespace quire
