// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/arguments.h"

#include <algorithm>

#include "text/jinja/operators.h"

namespace quire::jinja {

Bound::Bound(std::string_view function, Arguments arguments,
             std::initializer_list<std::string_view> parameters, std::size_t required)
    : function_(function),
      names_(parameters),
      values_(parameters.size()),
      given_(parameters.size(), false) {
  if (arguments.positional.size() > names_.size()) {
    type_error(function_ + "() takes at most " + std::to_string(names_.size()) + " argument(s), " +
               std::to_string(arguments.positional.size()) + " given");
  }
  for (std::size_t i = 0; i < arguments.positional.size(); ++i) {
    values_[i] = std::move(arguments.positional[i]);
    given_[i] = true;
  }
  for (auto& [key, value] : arguments.keywords) {
    const auto found = std::find(names_.begin(), names_.end(), key);
    if (found == names_.end()) {
      type_error(function_ + "() got an unexpected keyword argument '" + key + "'");
    }
    const auto i = static_cast<std::size_t>(found - names_.begin());
    if (given_[i]) type_error(function_ + "() got multiple values for argument '" + key + "'");
    values_[i] = std::move(value);
    given_[i] = true;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (!given_[i]) {
      type_error(function_ + "() missing required argument '" + std::string(names_[i]) + "'");
    }
  }
}

const Value* Bound::get(std::size_t parameter) const {
  return given_[parameter] ? &values_[parameter] : nullptr;
}

Value Bound::or_else(std::size_t parameter, Value fallback) const {
  return given_[parameter] ? values_[parameter] : std::move(fallback);
}

bool Bound::flag(std::size_t parameter) const {
  return given_[parameter] && truthy(values_[parameter]);
}

const std::string& Bound::text(std::size_t parameter) const {
  const Value& value = values_[parameter];
  if (!value.is_text()) {
    type_error(function_ + "() argument '" + std::string(names_[parameter]) +
               "' must be str, not " + type_name(value));
  }
  return value.as_string();
}

std::int64_t Bound::integer(std::size_t parameter, std::int64_t fallback) const {
  if (!given_[parameter]) return fallback;
  const auto index = as_index(values_[parameter]);
  if (!index) {
    type_error("'" + type_name(values_[parameter]) +
               "' object cannot be interpreted as an integer");
  }
  return *index;
}

}  // namespace quire::jinja
