// SPDX-License-Identifier: Apache-2.0
#include <quire/error.h>

#include <functional>
#include <map>
#include <utility>

#include "text/byte_level.h"
#include "text/tokenizer_json.h"
#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

using Made = std::unique_ptr<const PreTokenizer>;

SplitBehavior read_behavior(const JsonObject& object, const char* fallback) {
  static const std::map<std::string, SplitBehavior, std::less<>> names = {
      {"Removed", SplitBehavior::kRemoved},
      {"Isolated", SplitBehavior::kIsolated},
      {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
      {"MergedWithNext", SplitBehavior::kMergedWithNext},
      {"Contiguous", SplitBehavior::kContiguous},
  };
  const std::string name = object.string_or("behavior", fallback);
  const auto found = names.find(name);
  if (found == names.end()) object.fail("behavior", "unknown behavior '" + name + "'");
  return found->second;
}

std::string read_character(const JsonObject& object, const char* key, const char* fallback) {
  std::string text = object.string_or(key, fallback);
  if (count_characters(text) != 1) object.fail(key, "expected one character, found '" + text + "'");
  return text;
}

Made make_split(const JsonObject& object) {
  const JsonPattern pattern = read_pattern(object);
  const SplitBehavior behavior = read_behavior(object, "Isolated");
  const bool invert = object.boolean_or("invert", false);
  // The known patterns match everywhere: kept matches and removed rests are the same.
  const bool keeps_matches = (behavior == SplitBehavior::kIsolated && !invert) ||
                             (behavior == SplitBehavior::kRemoved && invert);
  if (pattern.is_regex && keeps_matches) {
    if (const WordPattern* known = known_word_pattern(pattern.text)) {
      return std::make_unique<WordPatternSplit>(*known);
    }
  }
  if (pattern.text.empty()) object.fail("pattern", "it is empty");
  Regex regex(pattern.is_regex ? pattern.text : escaped_pattern(pattern.text), object.subject());
  return std::make_unique<RegexSplit>(std::move(regex), behavior, invert);
}

Made make_digits(const JsonObject& object) {
  return std::make_unique<CharacterSplit>(is_numeric, object.boolean_or("individual_digits", false)
                                                         ? SplitBehavior::kIsolated
                                                         : SplitBehavior::kContiguous);
}

Made make_metaspace(const JsonObject& object) {
  using Prepend = MetaspaceSplit::Prepend;
  return std::make_unique<MetaspaceSplit>(
      read_character(object, "replacement", "▁"),
      [&] {
        // Files of before 0.19 say add_prefix_space instead.
        const bool prefix = object.boolean_or("add_prefix_space", true);
        const std::string scheme = object.string_or("prepend_scheme", prefix ? "always" : "never");
        if (scheme == "always") return Prepend::kAlways;
        if (scheme == "first") return Prepend::kFirst;
        if (scheme == "never") return Prepend::kNever;
        object.fail("prepend_scheme", "unknown scheme '" + scheme + "'");
      }(),
      object.boolean_or("split", true));
}

Made make_whitespace(const JsonObject&) { return std::make_unique<WordSplit>(); }

Made make_whitespace_split(const JsonObject&) {
  return std::make_unique<CharacterSplit>(is_white_space, SplitBehavior::kRemoved);
}

Made make_punctuation(const JsonObject& object) {
  return std::make_unique<CharacterSplit>(is_bert_punctuation, read_behavior(object, "Isolated"));
}

Made make_delimiter(const JsonObject& object) {
  return std::make_unique<DelimiterSplit>(read_character(object, "delimiter", ""));
}

Made make_fixed_length(const JsonObject& object) {
  const std::int64_t length = object.integer_or("length", 5);
  if (length < 1) object.fail("length", "expected at least 1, found " + std::to_string(length));
  return std::make_unique<FixedLengthSplit>(static_cast<std::size_t>(length));
}

const std::map<std::string, Made (*)(const JsonObject&), std::less<>>& makers() {
  static const std::map<std::string, Made (*)(const JsonObject&), std::less<>> table = {
      {"Split", make_split},
      {"Digits", make_digits},
      {"Metaspace", make_metaspace},
      {"Whitespace", make_whitespace},
      {"WhitespaceSplit", make_whitespace_split},
      {"Punctuation", make_punctuation},
      {"CharDelimiterSplit", make_delimiter},
      {"FixedLength", make_fixed_length},
  };
  return table;
}

}  // namespace

void read_pre_tokenizer(const JsonObject& object, bool raw_bytes, PreTokenizers& steps) {
  const std::string& type = object.string("type");
  if (type == "Sequence") {
    const auto parts = read_components(object, "pretokenizers");
    for (std::size_t i = 0; i < parts.size(); ++i) {
      read_pre_tokenizer(parts[i], raw_bytes && i + 1 == parts.size(), steps);
    }
  } else if (type == "ByteLevel") {
    steps.push_back(std::make_unique<ByteLevelSplit>(object.boolean_or("add_prefix_space", true),
                                                     object.boolean_or("use_regex", true),
                                                     raw_bytes));
  } else if (type == "BertPreTokenizer") {
    add_bert_splits(steps);
  } else if (const auto found = makers().find(type); found != makers().end()) {
    steps.push_back(found->second(object));
  } else {
    throw Error(ErrorCode::kUnsupported, object.subject(), "unknown pre-tokenizer '" + type + "'");
  }
}

bool ends_in_byte_level(const JsonObject& object) {
  const std::string& type = object.string("type");
  if (type != "Sequence") return type == "ByteLevel";
  const auto parts = read_components(object, "pretokenizers");
  return !parts.empty() && ends_in_byte_level(parts.back());
}

}  // namespace quire
