// SPDX-License-Identifier: Apache-2.0
// Addresses in (already escaped) text, made links: what the urlize filter does.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"
#include "text/regex.h"

namespace quire::jinja {
namespace {

constexpr std::size_t kLongestAddress = 2000;  // longer words are no addresses

std::size_t occurrences(std::string_view text, std::string_view what) {
  std::size_t count = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos;
       at = text.find(what, at + what.size())) {
    ++count;
  }
  return count;
}

// Whether the pattern matches all of `word`.
bool matches(const Regex& pattern, const std::string& word) {
  bool all = false;
  pattern.for_each_match(word, [&](std::size_t begin, std::size_t end) {
    all = all || (begin == 0 && end == word.size());
  });
  return all;
}

bool is_web_address(const std::string& word) {
  static const Regex pattern(
      R"(\A(?i:(?:(?:https?://|www\.)(?:(?:[\w%-]+\.)+)?(?:[a-z]{2,63}|xn--[\w%]{2,59}))"
      R"(|(?:[\w%-]{2,63}\.)+(?:com|net|int|edu|gov|org|info|mil))"
      R"(|https?://(?:\d{1,3}(?:\.\d{1,3}){3}|\[(?:[\da-f]{0,4}:){2}(?:[\da-f]{0,4}:?){1,6}\])))"
      R"((?::\d{1,5})?(?:[/?#]\S*)?)\z)",
      "urlize");
  return word.size() <= kLongestAddress && matches(pattern, word);
}

bool is_mail_address(const std::string& word) {
  static const Regex pattern(R"(\A\S+@\w[\w.-]*\.\w+\z)", "urlize");
  return word.size() <= kLongestAddress && matches(pattern, word);
}

std::string shortened(const std::string& word, const LinkStyle& style) {
  if (!style.trim || static_cast<std::int64_t>(count_code_points(word)) <= *style.trim) return word;
  const std::int64_t kept = std::max<std::int64_t>(*style.trim, 0);
  return word.substr(0, byte_offset(word, static_cast<std::size_t>(kept))) + "...";
}

std::string anchor(const std::string& address, const std::string& shown, const LinkStyle& style) {
  std::string out = "<a href=\"" + address + "\"";
  if (!style.rel.empty()) out += " rel=\"" + style.rel + "\"";
  if (!style.target.empty()) out += " target=\"" + style.target + "\"";
  return out + ">" + shown + "</a>";
}

// A word without the punctuation around it.
std::string linked(const std::string& word, const LinkStyle& style) {
  if (is_web_address(word)) {
    const bool complete = word.starts_with("https://") || word.starts_with("http://");
    return anchor(complete ? word : "https://" + word, shortened(word, style), style);
  }
  if (word.starts_with("mailto:") && is_mail_address(word.substr(7))) {
    return "<a href=\"" + word + "\">" + word.substr(7) + "</a>";
  }
  if (word.find('@') != std::string::npos && !word.starts_with("www.") && word[0] != '@' &&
      word.find(':') == std::string::npos && is_mail_address(word)) {
    return "<a href=\"mailto:" + word + "\">" + word + "</a>";
  }
  for (const std::string& scheme : style.schemes) {
    if (word != scheme && word.starts_with(scheme)) return anchor(word, word, style);
  }
  return word;
}

// The bytes of brackets or punctuation that `word` begins (or ends) with.
std::size_t opening(std::string_view word) {
  std::size_t size = 0;
  for (;;) {
    const std::string_view rest = word.substr(size);
    if (rest.starts_with("(") || rest.starts_with("<")) {
      size += 1;
    } else if (rest.starts_with("&lt;")) {
      size += 4;
    } else {
      return size;
    }
  }
}

std::size_t closing(std::string_view word) {
  std::size_t left = word.size();
  for (;;) {
    const std::string_view rest = word.substr(0, left);
    if (rest.ends_with("&gt;")) {
      left -= 4;
    } else if (!rest.empty() &&
               std::string_view(")>.,\n").find(rest.back()) != std::string_view::npos) {
      left -= 1;
    } else {
      return word.size() - left;
    }
  }
}

std::string link_word(const std::string& word, const LinkStyle& style) {
  const std::size_t begin = opening(word);
  const std::string_view rest = std::string_view(word).substr(begin);
  const std::size_t size = rest.size() - closing(rest);
  std::string middle(rest.substr(0, size));
  std::string_view tail = rest.substr(size);
  // Brackets opened inside an address keep their closing ones.
  static constexpr std::pair<std::string_view, std::string_view> kBrackets[] = {
      {"(", ")"}, {"<", ">"}, {"&lt;", "&gt;"}};
  for (const auto& [open, close] : kBrackets) {
    const std::size_t opened = occurrences(middle, open);
    if (opened <= occurrences(middle, close)) continue;
    for (std::size_t i = std::min(opened, occurrences(tail, close)); i > 0; --i) {
      const std::size_t upto = tail.find(close) + close.size();
      middle += tail.substr(0, upto);
      tail.remove_prefix(upto);
    }
  }
  return word.substr(0, begin) + (middle.empty() ? middle : linked(middle, style)) +
         std::string(tail);
}

}  // namespace

std::string link_addresses(const std::string& text, const LinkStyle& style) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    charge_steps(1);
    std::size_t end = at;
    for (std::size_t after = at; after < text.size(); end = after) {
      if (is_space(next_code_point(text, after))) break;
    }
    if (end > at) out += link_word(text.substr(at, end - at), style);
    at = end;
    for (std::size_t after = at; after < text.size(); at = after) {
      if (!is_space(next_code_point(text, after))) break;
    }
    out += text.substr(end, at - end);
    check_size(out.size(), 1);
  }
  return out;
}

}  // namespace quire::jinja
