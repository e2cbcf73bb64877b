// SPDX-License-Identifier: Apache-2.0
#include "semantic/normalized_text.h"

#include <algorithm>
#include <vector>

#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

// Every space run as one space; none around.
std::string single_spaced(std::string_view text) {
  std::string out;
  bool space = false;
  for (std::size_t at = 0; at < text.size();) {
    const Utf8Character c = character_at(text, at);
    if (is_white_space(c.value)) {
      space = true;
    } else {
      if (space && !out.empty()) out += ' ';
      space = false;
      out += text.substr(at, c.length);
    }
    at += c.length;
  }
  return out;
}

// Marks of code: there spaces and capitals may mean something.
bool is_code(std::string_view text) {
  return text.find_first_of("`{}=<>\\$#|") != text.npos || text.find("()") != text.npos ||
         text.find("->") != text.npos || text.find("::") != text.npos;
}

bool shouts(std::string_view text) {
  return std::ranges::none_of(text, is_lower) && std::ranges::count_if(text, is_upper) > 1 &&
         text.find(' ') != text.npos;
}

// The first letter after a sentence's start, unless its word has another capital ("NASA", "iOS").
void lower_sentence_starts(std::string& text) {
  bool start = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (start && is_upper(c)) {
      const std::size_t end = std::min(text.find(' ', i), text.size());
      const bool other = std::any_of(text.begin() + static_cast<std::ptrdiff_t>(i) + 1,
                                     text.begin() + static_cast<std::ptrdiff_t>(end), is_upper);
      const bool single = end == i + 1;  // "C in a nutshell"; but "I" and "A" are words
      if (!other && (!single || c == 'A')) text[i] = static_cast<char>(c - 'A' + 'a');
    }
    if (c == '.' || c == '!' || c == '?') {
      start = i + 1 < text.size() && text[i + 1] == ' ';
    } else if (c != ' ' && c != '"') {
      start = false;
    }
  }
}

}  // namespace

std::string normalized_question(std::string_view text) {
  const std::string valid = normalized(to_valid_utf8(text), NormalForm::kNfc);
  if (is_code(valid)) return valid;
  std::string out = single_spaced(valid);
  if (shouts(out)) {
    out = lower_case(out);
  } else {
    lower_sentence_starts(out);
  }
  while (!out.empty() && (out.back() == '.' || out.back() == '!' || out.back() == ' '))
    out.pop_back();
  return out;
}

}  // namespace quire
