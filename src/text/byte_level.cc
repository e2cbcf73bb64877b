// SPDX-License-Identifier: Apache-2.0
#include "text/byte_level.h"

#include <utility>

#include "text/byte_letters.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

using Span = Pieces::Span;

constexpr std::string_view kGpt2Regex =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
constexpr std::string_view kLlama3Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
constexpr std::string_view kQwen2Regex =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

struct Spelling {
  std::string_view regex;
  WordPattern pattern;
};

constexpr Spelling kSpellings[] = {
    {kGpt2Regex, WordPattern::kGpt2},
    {kLlama3Regex, WordPattern::kLlama3},
    {kQwen2Regex, WordPattern::kQwen2},
};

class Scanner {
 public:
  Scanner(std::string_view text, WordPattern pattern)
      : text_(text),
        is_gpt2_(pattern == WordPattern::kGpt2),
        digits_(pattern == WordPattern::kQwen2 ? 1 : 3) {}

  // The end of the match that begins at `at`; every character begins one.
  std::size_t match(std::size_t at) const { return is_gpt2_ ? match_gpt2(at) : match_llama3(at); }

 private:
  struct Seen {
    char32_t c;
    CharacterClass kind;
    std::size_t end;
  };

  Seen see(std::size_t at) const {
    const auto byte = static_cast<unsigned char>(text_[at]);
    if (byte < 0x80) return {byte, character_class(byte), at + 1};
    const auto [c, length] = character_at(text_, at);
    return {c, character_class(c), at + length};
  }

  std::size_t run_of(CharacterClass kind, std::size_t at) const {
    while (at < text_.size()) {
      const Seen seen = see(at);
      if (seen.kind != kind) break;
      at = seen.end;
    }
    return at;
  }

  // 's 't 're 've 'm 'll 'd behind an apostrophe at `at`; 0 if none.
  std::size_t contraction(std::size_t at) const {
    const auto letter = [&](std::size_t i) {
      if (i >= text_.size()) return '\0';
      const char c = text_[i];
      return !is_gpt2_ && c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
    };
    const char first = letter(at + 1);
    const char second = letter(at + 2);
    if (first == 's' || first == 't' || first == 'm' || first == 'd') return at + 2;
    if ((first == 'r' || first == 'v') && second == 'e') return at + 3;
    if (first == 'l' && second == 'l') return at + 3;
    // U+017F folds to s.
    if (!is_gpt2_ && text_.substr(at + 1, 2) == "\xC5\xBF") return at + 3;
    return 0;
  }

  // \s+(?!\S)|\s+ at white space.
  std::size_t match_space(std::size_t at) const {
    std::size_t last = at;  // begin of the run's last character
    std::size_t end = at;
    while (end < text_.size()) {
      const Seen seen = see(end);
      if (seen.kind != CharacterClass::kSpace) break;
      last = end;
      end = seen.end;
    }
    return end == text_.size() || last == at ? end : last;
  }

  std::size_t match_gpt2(std::size_t at) const {
    Seen seen = see(at);
    if (seen.c == '\'') {
      if (const std::size_t end = contraction(at)) return end;
    }
    if (seen.c == ' ' && seen.end < text_.size()) {
      const Seen next = see(seen.end);
      if (next.kind != CharacterClass::kSpace) seen = next;
    }
    return seen.kind == CharacterClass::kSpace ? match_space(at) : run_of(seen.kind, seen.end);
  }

  std::size_t match_llama3(std::size_t at) const {
    const Seen seen = see(at);
    if (seen.c == '\'') {
      if (const std::size_t end = contraction(at)) return end;
    }
    if (seen.kind == CharacterClass::kLetter) return run_of(seen.kind, seen.end);
    if (seen.kind == CharacterClass::kNumber) return digits(seen.end);
    const bool more = seen.end < text_.size();
    if (more && seen.c != '\r' && seen.c != '\n') {
      const Seen next = see(seen.end);
      if (next.kind == CharacterClass::kLetter) return run_of(next.kind, next.end);
      if (seen.c == ' ' && next.kind == CharacterClass::kOther) return symbols(next.end);
    }
    return seen.kind == CharacterClass::kOther ? symbols(seen.end) : space_or_lines(at);
  }

  std::size_t digits(std::size_t at) const {
    for (int count = 1; count < digits_ && at < text_.size(); ++count) {
      const Seen seen = see(at);
      if (seen.kind != CharacterClass::kNumber) break;
      at = seen.end;
    }
    return at;
  }

  // [^\s\p{L}\p{N}]+[\r\n]* behind its first character.
  std::size_t symbols(std::size_t at) const {
    at = run_of(CharacterClass::kOther, at);
    while (at < text_.size() && (text_[at] == '\r' || text_[at] == '\n')) ++at;
    return at;
  }

  // \s*[\r\n]+ reaches behind the run's last line end.
  std::size_t space_or_lines(std::size_t at) const {
    std::size_t line_end = 0;
    for (std::size_t end = at; end < text_.size();) {
      const Seen seen = see(end);
      if (seen.kind != CharacterClass::kSpace) break;
      end = seen.end;
      if (seen.c == '\r' || seen.c == '\n') line_end = end;
    }
    return line_end != 0 ? line_end : match_space(at);
  }

  std::string_view text_;
  bool is_gpt2_;
  int digits_;
};

}  // namespace

const WordPattern* known_word_pattern(std::string_view regex) {
  for (const Spelling& spelling : kSpellings) {
    if (spelling.regex == regex) return &spelling.pattern;
  }
  return nullptr;
}

void scan_words(std::string_view text, WordPattern pattern, std::size_t base,
                std::vector<Span>& out) {
  const Scanner scanner(text, pattern);
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = scanner.match(at);
    out.push_back({base + at, base + end});
    at = end;
  }
}

void WordPatternSplit::apply(Pieces& pieces) const {
  std::vector<Span> out;
  out.reserve(pieces.text.size() / 4 + 1);
  for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
    scan_words(pieces[i], pattern_, pieces.spans[i].begin, out);
  }
  pieces.spans = std::move(out);
}

ByteLevelSplit::ByteLevelSplit(bool add_prefix_space, bool use_regex, bool raw_bytes)
    : add_prefix_space_(add_prefix_space), use_regex_(use_regex), raw_bytes_(raw_bytes) {}

void ByteLevelSplit::apply(Pieces& pieces) const {
  if (add_prefix_space_) {
    std::string text;
    std::vector<Span> spans;
    for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
      const std::size_t begin = text.size();
      if (!pieces[i].starts_with(' ')) text += ' ';
      text += pieces[i];
      spans.push_back({begin, text.size()});
    }
    pieces.text = std::move(text);
    pieces.spans = std::move(spans);
  }
  if (use_regex_) WordPatternSplit(WordPattern::kGpt2).apply(pieces);
  if (raw_bytes_) return;
  std::string text;
  text.reserve(2 * pieces.text.size());
  for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
    const std::size_t begin = text.size();
    text += spell_bytes(pieces[i]);
    pieces.spans[i] = {begin, text.size()};
  }
  pieces.text = std::move(text);
}

}  // namespace quire
