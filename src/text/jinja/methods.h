// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include "text/jinja/interpreter.h"
#include "text/jinja/loop.h"

namespace quire::jinja {

struct Method {
  std::string_view name;
  FunctionObject::Body body;
  bool by_name = false;  // arguments may be given by name
};

// nullptr when values of that kind have no such method.
const Method* find_text_method(std::string_view name);
const Method* find_markup_method(std::string_view name);
const Method* find_method(const Value& self, std::string_view name);

// str.translate, str.maketrans and str.encode.
Value translate_method(Interpreter& interpreter, const Value& self, Arguments arguments);
Value maketrans_method(Interpreter& interpreter, const Value& self, Arguments arguments);
Value encode_method(Interpreter& interpreter, const Value& self, Arguments arguments);

// dict.fromkeys, of dicts and of the global dict.
Value dict_fromkeys(Interpreter& interpreter, const Value& self, Arguments arguments);

// The methods of a list or dict that would change it.
bool changes_value(const Value& self, std::string_view name);

// str.format and the format filter's %, in format.cc and percent.cc.
Value format_text(Interpreter& interpreter, const Value& format, const Arguments& arguments);

// format(value, specification) for what is not a text to be escaped.
std::string format_value(const Value& value, std::string_view specification);

// The byte where `what` first stands in `text` at or behind `from`, and where it last stands; npos
// if nowhere. Takes time in proportion to both sizes, where std::string's own take their product.
std::size_t find_first(std::string_view text, std::string_view what, std::size_t from = 0);
std::size_t find_last(std::string_view text, std::string_view what);

// Pieces of texts that filters share with methods.
// Something is cased, and all that is cased has the property.
bool all_cased(std::string_view text, bool (*property)(char32_t));
std::string strip(std::string_view text, const std::string* characters, bool left, bool right);
std::string replace(const std::string& text, const std::string& old, const std::string& with,
                    std::int64_t count);
std::vector<std::string> split_lines(std::string_view text, bool keep_ends);
// `most` splits; all of them when negative.
std::vector<std::string> split_space(std::string_view text, std::int64_t most, bool from_right);
std::string pad(const std::string& text, std::int64_t width, const std::string& fill, bool left,
                bool right);

}  // namespace quire::jinja
