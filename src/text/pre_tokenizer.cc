// SPDX-License-Identifier: Apache-2.0
#include "text/pre_tokenizer.h"

#include <algorithm>
#include <utility>

#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

using Span = Pieces::Span;

// A stretch of a piece: a match, or what lies between matches.
struct Part {
  Span span;
  bool is_match;
};

// Joins the stretches of one piece as the behaviour says and appends what remains.
class Joiner {
 public:
  explicit Joiner(SplitBehavior behavior) : behavior_(behavior) {}

  void join(std::vector<Part>& parts, std::vector<Span>& out) {
    if (behavior_ == SplitBehavior::kMergedWithNext) {
      merge_with_next(parts, out);
      return;
    }
    bool previous_match = false;
    bool have = false;  // the piece has put something into `out`
    for (const Part& part : parts) {
      if (have && extends(part.is_match, previous_match)) {
        out.back().end = part.span.end;
      } else if (behavior_ != SplitBehavior::kRemoved || !part.is_match) {
        out.push_back(part.span);
        have = true;
      }
      previous_match = part.is_match;
    }
  }

 private:
  bool extends(bool is_match, bool previous_match) const {
    if (behavior_ == SplitBehavior::kContiguous) return is_match == previous_match;
    return behavior_ == SplitBehavior::kMergedWithPrevious && is_match && !previous_match;
  }

  void merge_with_next(std::vector<Part>& parts, std::vector<Span>& out) {
    const std::size_t first = out.size();
    bool next_match = false;
    for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
      if (part->is_match && !next_match && out.size() > first) {
        out.back().begin = part->span.begin;
      } else {
        out.push_back(part->span);
      }
      next_match = part->is_match;
    }
    std::reverse(out.begin() + static_cast<std::ptrdiff_t>(first), out.end());
  }

  SplitBehavior behavior_;
};

}  // namespace

Pieces::Pieces(std::string whole, bool at_start)
    : text(std::move(whole)), first_at_start(at_start) {
  if (!text.empty()) spans.push_back({0, text.size()});
}

void split_pieces(Pieces& pieces, const Matcher& matcher, SplitBehavior behavior, bool invert) {
  std::vector<Span> out;
  out.reserve(pieces.spans.size());
  std::vector<Part> parts;
  Joiner joiner(behavior);
  const std::size_t text_begin = pieces.spans.empty() ? 0 : pieces.spans.front().begin;
  for (const Span& span : pieces.spans) {
    parts.clear();
    std::size_t done = span.begin;
    matcher(std::string_view(pieces.text).substr(span.begin, span.end - span.begin),
            [&](std::size_t begin, std::size_t end) {
              begin += span.begin;
              end += span.begin;
              if (done < begin) parts.push_back({{done, begin}, invert});
              parts.push_back({{begin, end}, !invert});
              done = end;
            });
    if (done < span.end) parts.push_back({{done, span.end}, invert});
    joiner.join(parts, out);
  }
  std::erase_if(out, [](const Span& span) { return span.begin == span.end; });
  pieces.first_at_start = pieces.first_at_start && !out.empty() && out.front().begin == text_begin;
  pieces.spans = std::move(out);
}

CharacterSplit::CharacterSplit(bool (*matches)(char32_t), SplitBehavior behavior)
    : matches_(matches), behavior_(behavior) {}

void CharacterSplit::apply(Pieces& pieces) const {
  split_pieces(
      pieces,
      [this](std::string_view text, const auto& visit) {
        for (std::size_t at = 0; at < text.size();) {
          const auto [c, length] = character_at(text, at);
          if (matches_(c)) visit(at, at + length);
          at += length;
        }
      },
      behavior_, false);
}

bool is_bert_punctuation(char32_t c) { return is_ascii_punctuation(c) || is_punctuation(c); }

void add_bert_splits(PreTokenizers& steps) {
  steps.push_back(std::make_unique<CharacterSplit>(is_white_space, SplitBehavior::kRemoved));
  steps.push_back(std::make_unique<CharacterSplit>(is_bert_punctuation, SplitBehavior::kIsolated));
}

void DelimiterSplit::apply(Pieces& pieces) const {
  split_pieces(
      pieces,
      [this](std::string_view text, const auto& visit) {
        for (std::size_t at = text.find(delimiter_); at != std::string_view::npos;
             at = text.find(delimiter_, at + delimiter_.size())) {
          visit(at, at + delimiter_.size());
        }
      },
      SplitBehavior::kRemoved, false);
}

RegexSplit::RegexSplit(Regex regex, SplitBehavior behavior, bool invert)
    : regex_(std::move(regex)), behavior_(behavior), invert_(invert) {}

void RegexSplit::apply(Pieces& pieces) const {
  split_pieces(
      pieces,
      [this](std::string_view text, const auto& visit) { regex_.for_each_match(text, visit); },
      behavior_, invert_);
}

void WordSplit::apply(Pieces& pieces) const {
  split_pieces(
      pieces,
      [](std::string_view text, const auto& visit) {
        enum class Kind { kSpace, kWord, kOther };
        Kind kind = Kind::kSpace;
        std::size_t begin = 0;
        for (std::size_t at = 0; at < text.size();) {
          const auto [c, length] = character_at(text, at);
          const Kind here = is_word_character(c) ? Kind::kWord
                            : is_white_space(c)  ? Kind::kSpace
                                                 : Kind::kOther;
          if (here != kind) {
            if (kind != Kind::kSpace) visit(begin, at);
            begin = at;
            kind = here;
          }
          at += length;
        }
        if (kind != Kind::kSpace) visit(begin, text.size());
      },
      SplitBehavior::kRemoved, true);
}

void FixedLengthSplit::apply(Pieces& pieces) const {
  split_pieces(
      pieces,
      [this](std::string_view text, const auto& visit) {
        for (std::size_t at = 0; at < text.size();) {
          std::size_t end = at;
          for (std::size_t i = 0; i < characters_ && end < text.size(); ++i) {
            end += character_at(text, end).length;
          }
          visit(at, end);
          at = end;
        }
      },
      SplitBehavior::kIsolated, false);
}

MetaspaceSplit::MetaspaceSplit(std::string replacement, Prepend prepend, bool split)
    : replacement_(std::move(replacement)), prepend_(prepend), split_(split) {}

void MetaspaceSplit::apply(Pieces& pieces) const {
  std::string text;
  text.reserve(pieces.text.size() + 3);
  std::vector<Span> spans;
  for (std::size_t i = 0; i < pieces.spans.size(); ++i) {
    const std::size_t begin = text.size();
    const std::string_view piece = pieces[i];
    const bool wanted = prepend_ == Prepend::kAlways ||
                        (prepend_ == Prepend::kFirst && i == 0 && pieces.first_at_start);
    if (wanted && !piece.starts_with(' ') && !piece.starts_with(replacement_)) text += replacement_;
    for (const char c : piece) {
      if (c == ' ') {
        text += replacement_;
      } else {
        text += c;
      }
    }
    spans.push_back({begin, text.size()});
  }
  pieces.text = std::move(text);
  pieces.spans = std::move(spans);
  if (!split_) return;
  split_pieces(
      pieces,
      [this](std::string_view piece, const auto& visit) {
        for (std::size_t at = piece.find(replacement_); at != std::string_view::npos;
             at = piece.find(replacement_, at + replacement_.size())) {
          visit(at, at + replacement_.size());
        }
      },
      SplitBehavior::kMergedWithNext, false);
}

}  // namespace quire
