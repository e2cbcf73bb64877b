// SPDX-License-Identifier: Apache-2.0
#include "text/utf8.h"

namespace quire {

namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

unsigned char byte_at(std::string_view bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// Length that a lead byte announces, 0 if it cannot lead, and the range of the second byte.
struct Lead {
  std::size_t length;
  unsigned char low;
  unsigned char high;
};

Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xC2) return {0, 0, 0};
  if (byte < 0xE0) return {2, 0x80, 0xBF};
  if (byte == 0xE0) return {3, 0xA0, 0xBF};
  if (byte == 0xED) return {3, 0x80, 0x9F};
  if (byte < 0xF0) return {3, 0x80, 0xBF};
  if (byte == 0xF0) return {4, 0x90, 0xBF};
  if (byte < 0xF4) return {4, 0x80, 0xBF};
  if (byte == 0xF4) return {4, 0x80, 0x8F};
  return {0, 0, 0};
}

}  // namespace

Utf8Front utf8_front(std::string_view bytes) {
  using Kind = Utf8Front::Kind;
  const Lead lead = lead_of(byte_at(bytes, 0));
  if (lead.length == 0) return {Kind::kIllFormed, 1};
  for (std::size_t i = 1; i < lead.length; ++i) {
    if (i == bytes.size()) return {Kind::kTruncated, i};
    const unsigned char low = i == 1 ? lead.low : 0x80;
    const unsigned char high = i == 1 ? lead.high : 0xBF;
    if (byte_at(bytes, i) < low || byte_at(bytes, i) > high) return {Kind::kIllFormed, i};
  }
  return {Kind::kCharacter, lead.length};
}

bool is_valid_utf8(std::string_view bytes) {
  while (!bytes.empty()) {
    const Utf8Front front = utf8_front(bytes);
    if (front.kind != Utf8Front::Kind::kCharacter) return false;
    bytes.remove_prefix(front.length);
  }
  return true;
}

std::string to_valid_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  Utf8Assembler assembler;
  assembler.push(bytes, out);
  assembler.finish(out);
  return out;
}

void append_utf8(std::string& out, char32_t character) {
  const auto put = [&out](char32_t bits) { out.push_back(static_cast<char>(bits)); };
  if (character < 0x80) {
    put(character);
  } else if (character < 0x800) {
    put(0xC0 | (character >> 6));
    put(0x80 | (character & 0x3F));
  } else if (character < 0x10000) {
    put(0xE0 | (character >> 12));
    put(0x80 | ((character >> 6) & 0x3F));
    put(0x80 | (character & 0x3F));
  } else {
    put(0xF0 | (character >> 18));
    put(0x80 | ((character >> 12) & 0x3F));
    put(0x80 | ((character >> 6) & 0x3F));
    put(0x80 | (character & 0x3F));
  }
}

Utf8Character character_at(std::string_view text, std::size_t at) {
  const char32_t first = byte_at(text, at);
  const auto tail = [&](std::size_t i) { return char32_t{byte_at(text, at + i)} & 0x3F; };
  if (first < 0x80) return {first, 1};
  if (first < 0xE0) return {((first & 0x1F) << 6) | tail(1), 2};
  if (first < 0xF0) return {((first & 0x0F) << 12) | (tail(1) << 6) | tail(2), 3};
  return {((first & 0x07) << 18) | (tail(1) << 12) | (tail(2) << 6) | tail(3), 4};
}

std::size_t previous_character(std::string_view text, std::size_t end) {
  do {
    --end;
  } while (end > 0 && (byte_at(text, end) & 0xC0) == 0x80);
  return end;
}

std::size_t count_characters(std::string_view text) {
  std::size_t count = 0;
  for (const char byte : text) count += (static_cast<unsigned char>(byte) & 0xC0) != 0x80;
  return count;
}

void Utf8Assembler::push(std::string_view bytes, std::string& out) {
  std::string joined;
  if (!held_.empty()) {
    joined = held_.append(bytes);
    held_.clear();
    bytes = joined;
  }
  std::size_t copied = 0;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const Utf8Front front = utf8_front(bytes.substr(at));
    if (front.kind == Utf8Front::Kind::kTruncated) break;
    if (front.kind == Utf8Front::Kind::kIllFormed) {
      out.append(bytes, copied, at - copied).append(kReplacement);
      copied = at + front.length;
    }
    at += front.length;
  }
  out.append(bytes, copied, at - copied);
  held_.assign(bytes.substr(at));
}

void Utf8Assembler::finish(std::string& out) {
  if (!held_.empty()) out.append(kReplacement);
  held_.clear();
}

}  // namespace quire
