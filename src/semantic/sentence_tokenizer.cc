// SPDX-License-Identifier: Apache-2.0
#include "semantic/sentence_tokenizer.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

#include "text/unicode.h"
#include "text/utf8.h"

namespace quire {

namespace {

// Python's str.isspace: the separators of ASCII too.
bool is_space(char32_t c) { return is_white_space(c) || (c >= 0x1c && c <= 0x1f); }

// REQUIRES: `text` is valid UTF-8.
std::string_view stripped(std::string_view text) {
  while (!text.empty()) {
    const Utf8Character front = character_at(text, 0);
    if (!is_space(front.value)) break;
    text.remove_prefix(front.length);
  }
  while (!text.empty()) {
    const std::size_t back = previous_character(text, text.size());
    if (!is_space(character_at(text, back).value)) break;
    text = text.substr(0, back);
  }
  return text;
}

}  // namespace

SentenceTokenizer::SentenceTokenizer(const EncoderFiles& files)
    : tokenizer_(files.tokenizer),
      prompt_(files.layout.prompt),
      lower_case_(files.layout.lower_case) {
  // What is around a text does not depend on it.
  const TokenIds probe = tokenizer_->encode("a");
  const TokenIds framed = tokenizer_->encode("a", {.add_special = true});
  const auto place = std::ranges::search(framed, probe);
  before_.assign(framed.begin(), place.begin());
  after_.assign(place.end(), framed.end());
  const auto most = static_cast<std::size_t>(files.max_tokens);
  const std::size_t around = before_.size() + after_.size();
  if (most <= around) {
    throw Error(ErrorCode::kCorrupt, files.layout.encoder.native(),
                "max_seq_length: expected more than the " + std::to_string(around) +
                    " tokens around a text, found " + std::to_string(most));
  }
  room_ = most - around;
}

SentenceIds SentenceTokenizer::encode(std::string_view text) const {
  const std::string valid = to_valid_utf8(prompt_ + std::string(text));
  std::string cleaned(stripped(valid));
  if (lower_case_) cleaned = lower_case(cleaned);
  TokenIds own = tokenizer_->encode(cleaned);
  SentenceIds result;
  if (const auto unknown = tokenizer_->unk()) {
    result.unknown_tokens = std::ranges::count(own, *unknown);
  }
  result.truncated = own.size() > room_;
  if (result.truncated) own.resize(room_);
  result.ids = before_;
  result.ids.insert(result.ids.end(), own.begin(), own.end());
  result.ids.insert(result.ids.end(), after_.begin(), after_.end());
  return result;
}

}  // namespace quire
