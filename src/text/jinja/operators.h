// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/jinja/ast.h"
#include "text/jinja/value.h"

// Python's operators. Errors are Failures: kType for operands that do not go together, kValue for
// a division by zero, kUndefined where an operand is undefined.
namespace quire::jinja {

Value binary(BinaryOp op, const Value& a, const Value& b);
Value negate(const Value& value);
Value positive(const Value& value);

// value[start:stop:step]; undefined or none parts are absent.
Value slice(const Value& value, const Value& start, const Value& stop, const Value& step);

// Python's index(value): nothing unless it is a whole number. Clamped to 64 bits.
std::optional<std::int64_t> as_index(const Value& value);

// float(value) for a number. Throws Failure kValue when too large.
double number_of(const Value& value);
BigInt big_of(const Value& value);  // REQUIRES: integral

// & < > ' " as entities.
std::string escape_html(std::string_view text);
// A markup text is left alone, anything else is printed and escaped.
Value escape(const Value& value);

// left % right for a text.
Value format_percent(const Value& format, const Value& arguments);

}  // namespace quire::jinja
