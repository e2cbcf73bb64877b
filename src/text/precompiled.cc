// SPDX-License-Identifier: Apache-2.0
#include "text/precompiled.h"

#include <quire/error.h>
#include <utf8proc.h>

#include <utility>

#include "text/utf8.h"

namespace quire {

namespace {

int base64_digit(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

std::optional<std::string> from_base64(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const int digit = base64_digit(c);
    if (digit < 0) return std::nullopt;
    bits = (bits << 6) | static_cast<std::uint32_t>(digit);
    held += 6;
    if (held >= 8) {
      held -= 8;
      out.push_back(static_cast<char>((bits >> held) & 0xFF));
    }
  }
  return out;
}

std::uint32_t little_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 4; i-- > 0;) {
    value = (value << 8) | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

// The fields of a darts-clone unit.
bool has_leaf(std::uint32_t unit) { return ((unit >> 8) & 1) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFF; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FF; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10) << ((unit & (1U << 9)) >> 6); }

}  // namespace

PrecompiledNormalizer::PrecompiledNormalizer(std::string_view base64, std::string subject)
    : subject_(std::move(subject)) {
  const auto decoded = from_base64(base64);
  if (!decoded) fail("expected base64");
  if (decoded->size() < 4)
    fail("expected at least 4 bytes, found " + std::to_string(decoded->size()));
  const std::uint32_t trie_bytes = little_endian(*decoded, 0);
  if (trie_bytes > decoded->size() - 4 || trie_bytes % 4 != 0 || trie_bytes == 0) {
    fail("its trie claims " + std::to_string(trie_bytes) + " bytes, " +
         std::to_string(decoded->size() - 4) + " are there");
  }
  for (std::size_t at = 4; at < 4 + std::size_t{trie_bytes}; at += 4) {
    trie_.push_back(little_endian(*decoded, at));
  }
  texts_ = decoded->substr(4 + std::size_t{trie_bytes});
}

void PrecompiledNormalizer::fail(std::string_view problem) const {
  throw Error(ErrorCode::kCorrupt, subject_, "precompiled_charsmap: " + std::string(problem));
}

// What the shortest entry that begins `chunk` is replaced by.
std::optional<std::string_view> PrecompiledNormalizer::find(std::string_view chunk) const {
  const auto unit_at = [this](std::size_t at) {
    if (at >= trie_.size()) fail("its trie points outside of itself");
    return trie_[at];
  };
  std::size_t at = offset_of(unit_at(0));
  for (const char c : chunk) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte == 0) break;
    at ^= byte;
    const std::uint32_t unit = unit_at(at);
    if (label_of(unit) != byte) break;
    at ^= offset_of(unit);
    if (!has_leaf(unit)) continue;
    const std::uint32_t index = value_of(unit_at(at));
    if (index >= texts_.size()) fail("its trie points behind the texts");
    const std::string_view rest = std::string_view(texts_).substr(index);
    const std::string_view found = rest.substr(0, rest.find('\0'));
    if (!is_valid_utf8(found)) fail("a text is not valid UTF-8");
    return found;
  }
  return std::nullopt;
}

void PrecompiledNormalizer::append(std::string_view cluster, std::string& out) const {
  if (cluster.size() < 6) {
    if (const auto found = find(cluster)) {
      out.append(*found);
      return;
    }
  }
  for (std::size_t at = 0; at < cluster.size();) {
    const std::size_t length = character_at(cluster, at).length;
    const std::string_view character = cluster.substr(at, length);
    out.append(find(character).value_or(character));
    at += length;
  }
}

std::string PrecompiledNormalizer::normalize(std::string text) const {
  std::string out;
  out.reserve(text.size());
  utf8proc_int32_t state = 0;
  utf8proc_int32_t previous = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const auto [c, length] = character_at(text, at);
    const auto here = static_cast<utf8proc_int32_t>(c);
    if (at > 0 && utf8proc_grapheme_break_stateful(previous, here, &state)) {
      append(std::string_view(text).substr(begin, at - begin), out);
      begin = at;
    }
    previous = here;
    at += length;
  }
  append(std::string_view(text).substr(begin), out);
  return out;
}

}  // namespace quire
