// SPDX-License-Identifier: Apache-2.0
// textwrap.wrap: greedy lines of chunks, where a chunk is white space, a word, or a part of a
// hyphenated word.
#include <algorithm>
#include <string>
#include <vector>

#include "text/jinja/filters.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

using Points = std::u32string;
using Chunk = std::u32string_view;  // of the text that is wrapped

bool is_blank(char32_t c) { return c == ' ' || (c >= 9 && c <= 13); }
bool is_letter(char32_t c) { return is_word(c) && !is_decimal(c); }
bool is_word_or_mark(char32_t c) { return is_word(c) || Chunk(U"!\"'&.,?").find(c) != Chunk::npos; }

class Splitter {
 public:
  Splitter(Chunk text, bool hyphens) : text_(text), hyphens_(hyphens) {}

  std::vector<Chunk> split() const {
    std::vector<Chunk> chunks;
    for (std::size_t at = 0; at < text_.size();) {
      charge_steps(1);
      const std::size_t end = chunk_end(at);
      chunks.push_back(text_.substr(at, end - at));
      at = end;
    }
    return chunks;
  }

 private:
  bool letter(std::size_t at) const { return at < text_.size() && is_letter(text_[at]); }

  // Two or more dashes at `at` with a word behind them: where they end, or 0.
  std::size_t dash_end(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && text_[end] == '-') ++end;
    return end >= at + 2 && end < text_.size() && is_word(text_[end]) ? end : 0;
  }

  // A hyphen at `at` that a line may end with.
  bool breaks_at(std::size_t at) const {
    if (at >= text_.size() || text_[at] != '-') return false;
    const bool two = at >= 2 && letter(at - 1) && letter(at - 2);
    const bool apart = at >= 3 && letter(at - 1) && text_[at - 2] == '-' && letter(at - 3);
    if (!two && !apart) return false;
    return letter(at + 1) &&
           (letter(at + 2) || (at + 2 < text_.size() && text_[at + 2] == '-' && letter(at + 3)));
  }

  std::size_t chunk_end(std::size_t at) const {
    std::size_t end = at;
    if (is_blank(text_[at])) {
      while (end < text_.size() && is_blank(text_[end])) ++end;
      return end;
    }
    if (!hyphens_) {
      while (end < text_.size() && !is_blank(text_[end])) ++end;
      return end;
    }
    if (at > 0 && is_word_or_mark(text_[at - 1])) {
      if (const std::size_t after = dash_end(at)) return after;
    }
    for (end = at + 1;; ++end) {
      if (end >= text_.size() || is_blank(text_[end])) return std::min(end, text_.size());
      if (breaks_at(end)) return end + 1;
      if (is_word_or_mark(text_[end - 1]) && dash_end(end) != 0) return end;
    }
  }

  Chunk text_;
  bool hyphens_;
};

bool blank(Chunk chunk) {
  const auto ink = std::find_if_not(chunk.begin(), chunk.end(), is_space);
  charge_steps((ink - chunk.begin()) / 64);
  return ink == chunk.end();
}

// Takes from a chunk that is wider than a line what still fits.
void take_part(Points& line, std::vector<Chunk>& chunks, std::size_t width, bool break_long,
               bool hyphens) {
  Chunk& chunk = chunks.back();
  if (!break_long) {
    if (line.empty()) {
      line += chunk;
      chunks.pop_back();
    }
    return;
  }
  std::size_t end = width - std::min(line.size(), width);
  if (hyphens && chunk.size() > end && end > 0) {
    const std::size_t hyphen = chunk.substr(0, end).rfind(U'-');
    if (hyphen != Chunk::npos && chunk.substr(0, hyphen).find_first_not_of(U'-') != Chunk::npos) {
      end = hyphen + 1;
    }
  }
  line += chunk.substr(0, end);
  chunk.remove_prefix(std::min(end, chunk.size()));
}

}  // namespace

std::vector<std::string> wrap_text(const std::string& text, std::int64_t width,
                                   bool break_long_words, bool break_on_hyphens) {
  if (width <= 0) value_error("invalid width " + std::to_string(width) + " (must be > 0)");
  const auto limit = static_cast<std::size_t>(width);
  Points points;
  for (std::size_t at = 0; at < text.size();) points += next_code_point(text, at);
  charge_steps(static_cast<std::int64_t>(points.size() / 16));
  std::vector<Chunk> chunks = Splitter(points, break_on_hyphens).split();
  std::reverse(chunks.begin(), chunks.end());
  std::vector<std::string> lines;
  while (!chunks.empty()) {
    charge_steps(1);
    Points line;
    if (!lines.empty() && blank(chunks.back())) chunks.pop_back();
    std::size_t last = 0;  // the size of the last chunk taken
    while (!chunks.empty() && line.size() + chunks.back().size() <= limit) {
      last = chunks.back().size();
      line += chunks.back();
      chunks.pop_back();
    }
    if (!chunks.empty() && chunks.back().size() > limit) {
      const std::size_t before = line.size();
      take_part(line, chunks, limit, break_long_words, break_on_hyphens);
      if (line.size() != before) last = line.size() - before;
    }
    const Chunk end = Chunk(line).substr(line.size() - last);
    if (!line.empty() && blank(end)) line.resize(line.size() - last);
    if (line.empty()) continue;
    std::string out;
    for (const char32_t c : line) append_utf8(out, c);
    lines.push_back(std::move(out));
  }
  return lines;
}

}  // namespace quire::jinja
