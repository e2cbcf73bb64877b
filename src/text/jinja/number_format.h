// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "text/jinja/value.h"

namespace quire::jinja {

// What both % and format() say about a field, beside its type.
struct FieldStyle {
  std::string fill = " ";
  char align = '\0';  // < > ^ =, or 0 for the type's own
  char sign = '-';    // - + or a space
  bool alternate = false;
  char grouping = '\0';  // , or _
  std::int64_t width = 0;
  std::int64_t precision = -1;  // -1: not given
};

// A float without its sign, by type e, f, g or % of any case, or 0 for none.
// REQUIRES: a precision of at least 0, or -1 for the default.
std::string float_digits(double magnitude, char type, std::int64_t precision, bool alternate);

// Thousands separated in the whole part of `digits`.
std::string grouped(const std::string& digits, char separator, int size);

// Sign, prefix and digits (or any text as digits), padded to the field.
std::string in_field(const FieldStyle& style, char default_align, const std::string& sign,
                     const std::string& digits);

// The sign to print.
std::string sign_of(bool negative, const FieldStyle& style);

}  // namespace quire::jinja
