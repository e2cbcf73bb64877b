// SPDX-License-Identifier: Apache-2.0
#include "generate/special_text.h"

#include <algorithm>
#include <utility>

namespace quire {
namespace {

std::vector<std::string> texts_of(const Tokenizer& tokenizer) {
  std::vector<std::string> texts;
  const auto size = static_cast<TokenId>(tokenizer.vocab_size());
  for (TokenId id = 0; id < size; ++id) {
    if (tokenizer.is_special(id)) texts.push_back(tokenizer.token(id));
  }
  return texts;
}

// Bytes of the UTF-8 character that starts with `lead`.
std::size_t character_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

}  // namespace

SpecialText::SpecialText(const Tokenizer& tokenizer) : SpecialText(texts_of(tokenizer)) {}

SpecialText::SpecialText(std::vector<std::string> texts) : texts_(std::move(texts)) {
  std::erase(texts_, "");
  for (const std::string& text : texts_) {
    lookup_.insert(text);
    sizes_.insert(text.size());
    first_bytes_[static_cast<unsigned char>(text.front())] = true;
  }
}

std::size_t SpecialText::longest_at(std::string_view text, std::size_t at) const {
  if (!first_bytes_[static_cast<unsigned char>(text[at])]) return 0;
  for (const std::size_t size : sizes_) {
    if (size <= text.size() - at && lookup_.contains(text.substr(at, size))) return size;
  }
  return 0;
}

bool SpecialText::may_begin(std::string_view tail) const {
  if (!first_bytes_[static_cast<unsigned char>(tail.front())]) return false;
  return std::any_of(texts_.begin(), texts_.end(), [&](const std::string& text) {
    return text.size() > tail.size() && text.starts_with(tail);
  });
}

std::vector<SpecialText::Span> SpecialText::find(std::string_view text) const {
  std::vector<Span> spans;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = longest_at(text, at);
    if (size > 0) spans.push_back({at, size});
    at += std::max<std::size_t>(size, 1);
  }
  return spans;
}

std::string SpecialText::break_up(std::string_view text, std::string_view mark) const {
  const std::size_t last = text.find_last_not_of(" \t\r\n\f\v");
  const std::size_t end = last == std::string_view::npos ? 0 : last + 1;
  const std::size_t longest = sizes_.empty() ? 0 : *sizes_.begin();
  std::string out;
  std::size_t copied = 0;
  for (std::size_t at = 0; at < end; ++at) {
    const bool open = end - at < longest && may_begin(text.substr(at, end - at));
    if (!open && longest_at(text, at) == 0) continue;
    const std::size_t first = std::min(at + character_size(text[at]), text.size());
    out.append(text, copied, first - copied).append(mark);
    copied = first;
  }
  return out.append(text, copied);
}

}  // namespace quire
