// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "text/jinja/value.h"

namespace quire::jinja {

// The arguments of a call, by the names of a function's parameters.
// Throws Failure kType as Python does: too many, unknown or repeated ones, or fewer than required.
class Bound {
 public:
  Bound(std::string_view function, Arguments arguments,
        std::initializer_list<std::string_view> parameters, std::size_t required = 0);

  // nullptr when not given.
  const Value* get(std::size_t parameter) const;
  Value or_else(std::size_t parameter, Value fallback) const;
  bool flag(std::size_t parameter) const;  // truth of an argument; false when not given
  // A text. REQUIRES: it was given. Throws Failure kType.
  const std::string& text(std::size_t parameter) const;
  // A whole number. Throws Failure kType.
  std::int64_t integer(std::size_t parameter, std::int64_t fallback) const;

 private:
  std::string function_;
  std::vector<std::string_view> names_;
  std::vector<Value> values_;
  std::vector<bool> given_;
};

}  // namespace quire::jinja
