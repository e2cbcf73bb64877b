// SPDX-License-Identifier: Apache-2.0
// Escapes of string literals: those of Python, read after everything beyond ASCII has itself been
// written as an escape (so that a backslash before such a character escapes a backslash).
#include <cstdint>

#include "text/jinja/lexer.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

std::string hex(char32_t value, int digits) {
  std::string out;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) {
    out.push_back("0123456789abcdef"[value >> shift & 0xF]);
  }
  return out;
}

// What a lone backslash before a character beyond ASCII turns it into.
std::string spelled(char32_t c) {
  if (c < 0x100) return "x" + hex(c, 2);
  if (c < 0x10000) return "u" + hex(c, 4);
  return "U" + hex(c, 8);
}

char32_t read_number(std::string_view text, std::size_t& at, std::size_t most, int base,
                     bool exactly, std::string_view name) {
  char32_t value = 0;
  std::size_t count = 0;
  while (count < most && at < text.size()) {
    const auto digit = BigInt::parse(text.substr(at, 1), base);
    if (!digit) break;
    value = value * static_cast<char32_t>(base) + static_cast<char32_t>(*digit->small());
    ++at;
    ++count;
  }
  if (exactly && count < most) {
    fail(FailureKind::kSyntax, "truncated " + std::string(name) + " escape");
  }
  if (value > 0x10FFFF) fail(FailureKind::kSyntax, "illegal Unicode character");
  return value;
}

// The escape after a backslash; `at` is behind the backslash.
void append_escape(std::string& out, std::string_view text, std::size_t& at) {
  const char c = text[at];
  if (c >= '0' && c <= '7') {
    append_utf8(out, read_number(text, at, 3, 8, false, ""));
    return;
  }
  const std::size_t before = at;
  const char32_t whole = next_code_point(text, at);
  switch (c) {
    case '\n':
      return;
    case '\\':
    case '\'':
    case '"':
      out.push_back(c);
      return;
    case 'n':
      out.push_back('\n');
      return;
    case 'r':
      out.push_back('\r');
      return;
    case 't':
      out.push_back('\t');
      return;
    case 'a':
      out.push_back('\a');
      return;
    case 'b':
      out.push_back('\b');
      return;
    case 'f':
      out.push_back('\f');
      return;
    case 'v':
      out.push_back('\v');
      return;
    case 'x':
      append_utf8(out, read_number(text, at, 2, 16, true, "\\xXX"));
      return;
    case 'u':
      append_utf8(out, read_number(text, at, 4, 16, true, "\\uXXXX"));
      return;
    case 'U':
      append_utf8(out, read_number(text, at, 8, 16, true, "\\UXXXXXXXX"));
      return;
    case 'N':
      fail(FailureKind::kSyntax,
           "characters have no names here: write \\N{...} as \\uXXXX or as the character itself");
    default:
      out.push_back('\\');
      out += whole < 0x80 ? std::string(text.substr(before, at - before)) : spelled(whole);
  }
}

}  // namespace

std::string unescape(std::string_view literal) {
  std::string out;
  for (std::size_t at = 0; at < literal.size();) {
    if (literal[at] != '\\') {
      out.push_back(literal[at++]);
    } else if (++at < literal.size()) {
      append_escape(out, literal, at);
    }
  }
  return out;
}

}  // namespace quire::jinja
