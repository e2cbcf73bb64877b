// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/value.h"

namespace quire::jinja {

// JSON to values: keys in the order of the text, 1.0 a float and 1 an int of any size, the last of
// equal keys winning. Also NaN and Infinity, as Python reads them, are refused.
// Throws quire::Error kInvalidArgument naming `subject`.
Value parse_json_value(std::string_view text, std::string_view subject);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  bool indented = false;
  std::string indent;  // of one level
  std::string item_separator = ", ";
  std::string key_separator = ": ";
};

// Python's json.dumps. Throws Failure kType for what JSON cannot hold.
std::string dump_json(const Value& value, const JsonStyle& style);

}  // namespace quire::jinja
