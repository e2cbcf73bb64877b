// SPDX-License-Identifier: Apache-2.0
// The pprint filter: Python's pprint.pformat, 80 columns wide.
#include <algorithm>

#include "text/jinja/filters.h"
#include "text/jinja/methods.h"
#include "text/jinja/unicode.h"

namespace quire::jinja {
namespace {

constexpr std::size_t kWidth = 80;

using Entry = std::pair<Value, Value>;

// Keys of one type in their order, keys of several by the names of the types.
bool key_less(const Entry& a, const Entry& b) {
  const bool comparable =
      (a.first.is_number() && b.first.is_number()) || (a.first.is_text() && b.first.is_text());
  if (comparable) return less(a.first, b.first);
  return type_name(a.first) < type_name(b.first);
}

std::vector<Entry> sorted_entries(const DictObject& dict) {
  std::vector<Entry> entries = dict.items;
  std::stable_sort(entries.begin(), entries.end(), key_less);
  return entries;
}

// repr() with the keys of dicts in order.
std::string sorted_repr(const Value& value) {
  const Nested nested;
  charge_steps(1);
  std::string out;
  if (value.is_dict()) {
    for (const auto& [key, item] : sorted_entries(value.as_dict())) {
      out += (out.empty() ? "" : ", ") + sorted_repr(key) + ": " + sorted_repr(item);
      check_size(out.size(), 1);
    }
    return "{" + out + "}";
  }
  if (!value.is_sequence()) return to_repr(value);
  for (const Value& item : value.as_list()) {
    out += (out.empty() ? "" : ", ") + sorted_repr(item);
    check_size(out.size(), 1);
  }
  if (value.kind() == Kind::kList) return "[" + out + "]";
  return "(" + out + (value.as_list().size() == 1 ? ",)" : ")");
}

class Printer {
 public:
  // `indent` columns are taken on the left, `allowance` are wanted behind the last line.
  void print(const Value& value, std::size_t indent, std::size_t allowance, int level) {
    const Nested nested;
    const std::string repr = sorted_repr(value);
    const std::size_t room = kWidth - std::min(kWidth, indent + allowance);
    if (count_code_points(repr) <= room) {
      out_ += repr;
    } else if (value.is_dict()) {
      dict(value.as_dict(), indent, allowance, level + 1);
    } else if (value.is_sequence()) {
      sequence(value, indent, allowance, level + 1);
    } else if (value.is_text() && !value.is_markup()) {
      text(value.as_string(), indent, allowance, level + 1);
    } else {
      out_ += repr;
    }
    check_size(out_.size(), 1);
  }

  std::string take() { return std::move(out_); }

 private:
  void line(std::size_t indent) { out_ += "\n" + std::string(indent, ' '); }

  void dict(const DictObject& object, std::size_t indent, std::size_t allowance, int level) {
    out_ += '{';
    const std::vector<Entry> entries = sorted_entries(object);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) line(indent + 1);
      const std::string key = sorted_repr(entries[i].first);
      const bool last = i + 1 == entries.size();
      out_ += key + ": ";
      print(entries[i].second, indent + 1 + count_code_points(key) + 2, last ? allowance + 1 : 1,
            level);
      if (!last) out_ += ',';
    }
    out_ += '}';
  }

  void sequence(const Value& value, std::size_t indent, std::size_t allowance, int level) {
    const List& items = value.as_list();
    const bool list = value.kind() == Kind::kList;
    const std::string close = list ? "]" : items.size() == 1 ? ",)" : ")";
    out_ += list ? '[' : '(';
    for (std::size_t i = 0; i < items.size(); ++i) {
      if (i > 0) line(indent + 1);
      const bool last = i + 1 == items.size();
      print(items[i], indent + 1, last ? allowance + close.size() : 1, level);
      if (!last) out_ += ',';
    }
    out_ += close;
  }

  // Lines and then words of a long text as literals below each other.
  void text(const std::string& s, std::size_t indent, std::size_t allowance, int level) {
    if (level == 1) {
      ++indent;
      ++allowance;
    }
    const std::vector<std::string> chunks = literals(s, indent, allowance);
    const bool several = chunks.size() > 1 && level == 1;
    if (several) out_ += '(';
    for (std::size_t i = 0; i < chunks.size(); ++i) {
      if (i > 0) line(indent);
      out_ += chunks[i];
    }
    if (several) out_ += ')';
  }

  static std::vector<std::string> literals(const std::string& s, std::size_t indent,
                                           std::size_t allowance) {
    const auto repr = [](const std::string& piece) { return to_repr(Value::text(piece)); };
    const std::size_t room = kWidth - std::min(kWidth, indent);
    std::vector<std::string> chunks;
    const std::vector<std::string> lines = split_lines(s, true);
    for (std::size_t i = 0; i < lines.size(); ++i) {
      const bool last_line = i + 1 == lines.size();
      const std::size_t last_room = room - std::min(room, last_line ? allowance : 0);
      if (count_code_points(repr(lines[i])) <= last_room) {
        chunks.push_back(repr(lines[i]));
        continue;
      }
      std::string current;
      const std::vector<std::string> words = split_words(lines[i]);
      for (std::size_t j = 0; j < words.size(); ++j) {
        const std::size_t limit = j + 1 == words.size() ? last_room : room;
        if (count_code_points(repr(current + words[j])) > limit) {
          if (!current.empty()) chunks.push_back(repr(current));
          current = words[j];
        } else {
          current += words[j];
        }
      }
      if (!current.empty()) chunks.push_back(repr(current));
    }
    return chunks;
  }

  // Words with the white space behind them.
  static std::vector<std::string> split_words(const std::string& line) {
    std::vector<std::string> words;
    std::size_t begin = 0;
    bool space = false;
    for (std::size_t at = 0; at < line.size();) {
      const std::size_t here = at;
      const bool now = is_space(next_code_point(line, at));
      if (space && !now) {
        words.push_back(line.substr(begin, here - begin));
        begin = here;
      }
      space = now;
    }
    if (begin < line.size()) words.push_back(line.substr(begin));
    return words;
  }

  std::string out_;
};

Value pprint(Interpreter&, const Value& input, Arguments arguments) {
  const Bound bound("pprint", std::move(arguments), {});
  Printer printer;
  printer.print(input, 0, 0, 0);
  return Value::text(printer.take());
}

constexpr Filter kFilters[] = {{"pprint", pprint}};

}  // namespace

FilterFunction find_pretty_filter(std::string_view name) { return find_in(kFilters, name); }

}  // namespace quire::jinja
