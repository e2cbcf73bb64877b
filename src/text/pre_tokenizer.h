// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex.h"

namespace quire {

// A text on its way through pre-tokenizers: pieces of one buffer, in order, none empty.
struct Pieces {
  struct Span {
    std::size_t begin;
    std::size_t end;
  };

  // One piece, the whole text. `at_start`: it begins where the encoded text begins.
  Pieces(std::string whole, bool at_start);

  std::string_view operator[](std::size_t i) const {
    return std::string_view(text).substr(spans[i].begin, spans[i].end - spans[i].begin);
  }

  std::string text;
  std::vector<Span> spans;
  bool first_at_start;  // spans[0] begins where the encoded text begins
};

// What happens to the matches of a split (Hugging Face's SplitDelimiterBehavior).
enum class SplitBehavior { kRemoved, kIsolated, kMergedWithPrevious, kMergedWithNext, kContiguous };

// Calls visit(begin, end) for each match in the text it is given, in order, not overlapping.
using Matcher = std::function<void(
    std::string_view text, const std::function<void(std::size_t begin, std::size_t end)>& visit)>;

// Cuts every piece at the matches; `invert` swaps matches and what lies between them.
void split_pieces(Pieces& pieces, const Matcher& matcher, SplitBehavior behavior, bool invert);

// Cuts a text into pieces before the model, as Hugging Face tokenizers' pre_tokenizers do.
//
// Thread-safety: immutable; every method may be called concurrently.
class PreTokenizer {
 public:
  virtual ~PreTokenizer() = default;
  // Throws Error kInvalidArgument when a pattern runs into its limits.
  virtual void apply(Pieces& pieces) const = 0;
};

using PreTokenizers = std::vector<std::unique_ptr<const PreTokenizer>>;

// Cuts at the characters a predicate holds for.
class CharacterSplit final : public PreTokenizer {
 public:
  CharacterSplit(bool (*matches)(char32_t), SplitBehavior behavior);
  void apply(Pieces& pieces) const override;

 private:
  bool (*matches_)(char32_t);
  SplitBehavior behavior_;
};

// Appends BERT's: cut at white space, which goes, and around each punctuation mark.
void add_bert_splits(PreTokenizers& steps);
bool is_bert_punctuation(char32_t c);

// Cuts at one given character, which is removed.
class DelimiterSplit final : public PreTokenizer {
 public:
  explicit DelimiterSplit(std::string delimiter) : delimiter_(std::move(delimiter)) {}
  void apply(Pieces& pieces) const override;

 private:
  std::string delimiter_;
};

// Cuts at the matches of a pattern.
class RegexSplit final : public PreTokenizer {
 public:
  RegexSplit(Regex regex, SplitBehavior behavior, bool invert);
  void apply(Pieces& pieces) const override;

 private:
  Regex regex_;
  SplitBehavior behavior_;
  bool invert_;
};

// Words and runs of other visible characters; white space is removed.
class WordSplit final : public PreTokenizer {
 public:
  void apply(Pieces& pieces) const override;
};

// Pieces of so many characters; the last may be shorter.
class FixedLengthSplit final : public PreTokenizer {
 public:
  explicit FixedLengthSplit(std::size_t characters) : characters_(characters) {}
  void apply(Pieces& pieces) const override;

 private:
  std::size_t characters_;
};

// Writes spaces as a visible character, puts one in front, and cuts before each.
class MetaspaceSplit final : public PreTokenizer {
 public:
  enum class Prepend { kAlways, kFirst, kNever };
  MetaspaceSplit(std::string replacement, Prepend prepend, bool split);
  void apply(Pieces& pieces) const override;

 private:
  std::string replacement_;
  Prepend prepend_;
  bool split_;
};

}  // namespace quire
