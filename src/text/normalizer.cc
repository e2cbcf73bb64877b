// SPDX-License-Identifier: Apache-2.0
#include "text/normalizer.h"

#include <utility>

#include "text/byte_letters.h"
#include "text/utf8.h"

namespace quire {

namespace {

// `text` with each character replaced by what `map` appends for it.
template <typename Map>
std::string mapped(std::string_view text, Map map) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = character_at(text, at);
    map(c, text.substr(at, length), out);
    at += length;
  }
  return out;
}

bool is_ideograph(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2B81F) ||
         (c >= 0x2B920 && c <= 0x2CEAF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x2F800 && c <= 0x2FA1F);
}

std::string cleaned(std::string_view text) {
  return mapped(text, [](char32_t c, std::string_view same, std::string& out) {
    if (is_white_space(c) && (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') && c != 0x85) {
      out += ' ';
    } else if (c != 0 && c != 0xFFFD && !is_control_or_format(c)) {
      out += same;
    }
  });
}

std::string with_lone_ideographs(std::string_view text) {
  return mapped(text, [](char32_t c, std::string_view same, std::string& out) {
    const bool alone = is_ideograph(c);
    if (alone) out += ' ';
    out += same;
    if (alone) out += ' ';
  });
}

}  // namespace

std::string SequenceNormalizer::normalize(std::string text) const {
  for (const auto& part : parts_) text = part->normalize(std::move(text));
  return text;
}

std::string StripAccentsNormalizer::normalize(std::string text) const {
  return mapped(text, [](char32_t c, std::string_view same, std::string& out) {
    if (!is_mark(c)) out += same;
  });
}

std::string StripNormalizer::normalize(std::string text) const {
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (left_ && begin < end) {
    const auto [c, length] = character_at(text, begin);
    if (!is_white_space(c)) break;
    begin += length;
  }
  while (right_ && end > begin) {
    const std::size_t last = previous_character(text, end);
    if (!is_white_space(character_at(text, last).value)) break;
    end = last;
  }
  return text.substr(begin, end - begin);
}

std::string ReplaceNormalizer::normalize(std::string text) const {
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  regex_.for_each_match(text, [&](std::size_t begin, std::size_t end) {
    out.append(text, done, begin - done).append(content_);
    done = end;
  });
  return out.append(text, done);
}

std::string ReplaceTextNormalizer::normalize(std::string text) const {
  return replace_all(text, pattern_, content_);
}

std::string PrependNormalizer::normalize(std::string text) const {
  return text.empty() ? text : prefix_ + text;
}

std::string BertNormalizer::normalize(std::string text) const {
  if (options_.clean_text) text = cleaned(text);
  if (options_.handle_chinese_chars) text = with_lone_ideographs(text);
  if (options_.strip_accents) {
    text = mapped(normalized(text, NormalForm::kNfd),
                  [](char32_t c, std::string_view same, std::string& out) {
                    if (!is_nonspacing_mark(c)) out += same;
                  });
  }
  if (options_.lowercase) text = lower_case(text);
  return text;
}

std::string NmtNormalizer::normalize(std::string text) const {
  return mapped(text, [](char32_t c, std::string_view same, std::string& out) {
    if ((c >= 0x01 && c <= 0x08) || c == 0x0B || (c >= 0x0E && c <= 0x1F) || c == 0x7F ||
        c == 0x8F || c == 0x9F) {
      return;
    }
    const bool space = c == 0x09 || c == 0x0A || c == 0x0C || c == 0x0D || c == 0x1680 ||
                       (c >= 0x200B && c <= 0x200F) || c == 0x2028 || c == 0x2029 || c == 0x2581 ||
                       c == 0xFEFF || c == 0xFFFD;
    if (space) {
      out += ' ';
    } else {
      out += same;
    }
  });
}

std::string ByteLevelNormalizer::normalize(std::string text) const { return spell_bytes(text); }

std::string replace_all(std::string_view text, std::string_view pattern, std::string_view content) {
  std::string out;
  out.reserve(text.size());
  std::size_t done = 0;
  for (std::size_t at = text.find(pattern); at != std::string_view::npos;
       at = text.find(pattern, done)) {
    out.append(text, done, at - done).append(content);
    done = at + pattern.size();
  }
  return std::string(out.append(text.substr(done)));
}

}  // namespace quire
