// SPDX-License-Identifier: Apache-2.0
// The parts of Python's text methods that filters use too.
#include <algorithm>
#include <cstring>

#include "text/jinja/methods.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

// Which code points are stripped away: those of a text, or white space.
class Stripped {
 public:
  explicit Stripped(const std::string* characters) : space_(characters == nullptr) {
    if (space_) return;
    charge_steps(static_cast<std::int64_t>(characters->size() / 64));
    for (std::size_t at = 0; at < characters->size();) {
      const std::size_t c = next_code_point(*characters, at);
      if (c >= listed_.size()) listed_.resize(c + 1);
      listed_[c] = true;
    }
  }
  bool has(char32_t c) const { return space_ ? is_space(c) : c < listed_.size() && listed_[c]; }

 private:
  bool space_;
  std::vector<bool> listed_;  // by code point
};

std::size_t previous(std::string_view text, std::size_t at) {
  do {
    --at;
  } while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80);
  return at;
}

// The bytes of white space (or of everything else) that `text` begins or ends with.
std::size_t run_at_start(std::string_view text, bool space) {
  std::size_t size = 0;
  for (std::size_t at = 0; at < text.size(); size = at) {
    if (is_space(next_code_point(text, at)) != space) break;
  }
  return size;
}

std::size_t run_at_end(std::string_view text, bool space) {
  std::size_t begin = text.size();
  while (begin > 0) {
    const std::size_t before = previous(text, begin);
    std::size_t at = before;
    if (is_space(next_code_point(text, at)) != space) break;
    begin = before;
  }
  return text.size() - begin;
}

constexpr std::size_t kShort = 64;  // what std::string_view searches for backwards fast enough

}  // namespace

std::size_t find_first(std::string_view text, std::string_view what, std::size_t from) {
  if (what.empty() || from > text.size()) return text.find(what, from);
  const std::string_view rest = text.substr(from);
  const void* found = ::memmem(rest.data(), rest.size(), what.data(), what.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// What is long is looked for in windows twice as long, from the end on, each turned round: no byte
// is turned more than twice.
std::size_t find_last(std::string_view text, std::string_view what) {
  if (what.size() <= kShort) return text.rfind(what);
  const std::string backwards(what.rbegin(), what.rend());
  for (std::size_t end = text.size(); end >= what.size();) {
    const std::size_t begin = end - std::min(end, 2 * what.size());
    const std::string_view part = text.substr(begin, end - begin);
    const std::size_t found = find_first(std::string(part.rbegin(), part.rend()), backwards);
    if (found != std::string::npos) return end - found - what.size();
    if (begin == 0) break;
    end = begin + what.size() - 1;
  }
  return std::string_view::npos;
}

std::string strip(std::string_view text, const std::string* characters, bool left, bool right) {
  const Stripped stripped(characters);
  std::size_t begin = 0;
  std::size_t end = text.size();
  while (left && begin < end) {
    std::size_t after = begin;
    if (!stripped.has(next_code_point(text, after))) break;
    begin = after;
  }
  while (right && end > begin) {
    const std::size_t before = previous(text, end);
    std::size_t at = before;
    if (!stripped.has(next_code_point(text, at))) break;
    end = before;
  }
  charge_steps(static_cast<std::int64_t>((text.size() - (end - begin)) / 64));
  return std::string(text.substr(begin, end - begin));
}

std::string replace(const std::string& text, const std::string& old, const std::string& with,
                    std::int64_t count) {
  if (count < 0) count = INT64_MAX;
  std::string out;
  std::size_t at = 0;
  const auto append = [&out](std::string_view piece) {
    check_size(out.size() + piece.size(), 1);
    out += piece;
  };
  if (old.empty()) {  // between all characters, and at both ends
    while (count-- > 0) {
      append(with);
      if (at >= text.size()) return out;
      const std::size_t begin = at;
      next_code_point(text, at);
      append({text.data() + begin, at - begin});
    }
    return out + text.substr(at);
  }
  charge_steps(static_cast<std::int64_t>(text.size() / 64));
  for (; count > 0; --count) {
    const std::size_t found = find_first(text, old, at);
    if (found == std::string::npos) break;
    append({text.data() + at, found - at});
    append(with);
    at = found + old.size();
  }
  append({text.data() + at, text.size() - at});
  return out;
}

std::vector<std::string> split_lines(std::string_view text, bool keep_ends) {
  std::vector<std::string> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = at;
    const char32_t c = next_code_point(text, at);
    if (!is_line_end(c)) continue;
    if (c == '\r' && at < text.size() && text[at] == '\n') ++at;
    charge_steps(1);
    lines.emplace_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.emplace_back(text.substr(begin));
  return lines;
}

// What is left when the splits run out keeps the white space at its far end.
std::vector<std::string> split_space(std::string_view text, std::int64_t most, bool from_right) {
  if (most < 0) most = INT64_MAX;
  std::vector<std::string> words;
  std::string_view rest = text;
  while (true) {
    rest = rest.substr(from_right ? 0 : run_at_start(rest, true),
                       from_right ? rest.size() - run_at_end(rest, true) : std::string_view::npos);
    if (rest.empty()) break;
    charge_steps(1);
    const std::size_t size =
        most-- == 0 ? rest.size()
                    : (from_right ? run_at_end(rest, false) : run_at_start(rest, false));
    words.emplace_back(from_right ? rest.substr(rest.size() - size) : rest.substr(0, size));
    if (from_right) {
      rest.remove_suffix(size);
    } else {
      rest.remove_prefix(size);
    }
  }
  if (from_right) std::reverse(words.begin(), words.end());
  return words;
}

std::string pad(const std::string& text, std::int64_t width, const std::string& fill, bool left,
                bool right) {
  const auto length = static_cast<std::int64_t>(count_code_points(text));
  if (width <= length) return text;
  const std::int64_t missing = width - length;
  check_size(static_cast<std::size_t>(missing), fill.size());
  // Centred: an odd space goes left when the width is odd, as in CPython.
  std::int64_t before = left ? missing : 0;
  if (left && right) before = missing / 2 + (missing & width & 1);
  std::string out;
  for (std::int64_t i = 0; i < before; ++i) out += fill;
  out += text;
  for (std::int64_t i = before; i < missing; ++i) out += fill;
  return out;
}

}  // namespace quire::jinja
