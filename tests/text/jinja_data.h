// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <ctime>
#include <fstream>
#include <iomanip>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>

#include "text/jinja/json.h"

// The files of tests/data/templates.
namespace quire {

using jinja::Value;

// Read with our own parser: numbers keep their spelling, keys their order.
inline Value read(const std::string& name) {
  std::ifstream file(std::string(QUIRE_TEST_DATA) + "/templates/" + name);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  return jinja::parse_json_value(text, name);
}

inline const Value& at(const Value& object, std::string_view key) {
  const Value* found = object.as_dict().find(key);
  if (found == nullptr) throw std::out_of_range(std::string(key));
  return *found;
}

inline const std::string& text_at(const Value& object, std::string_view key) {
  return at(object, key).as_string();
}

inline std::string json_at(const Value& object, std::string_view key) {
  const Value& value = at(object, key);
  return value.is_none() ? std::string() : jinja::dump_json(value, {});
}

// "2025-03-09T08:05:07"
inline std::tm moment(const Value& data) {
  std::tm time{};
  std::istringstream text(text_at(data, "now"));
  text >> std::get_time(&time, "%Y-%m-%dT%H:%M:%S");
  EXPECT_FALSE(text.fail());
  return time;
}

}  // namespace quire
