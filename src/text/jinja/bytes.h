// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "text/jinja/methods.h"
#include "text/jinja/value.h"

namespace quire::jinja {

// What str.encode makes of a text. Prints as Python prints bytes.
struct BytesObject final : Object {
  explicit BytesObject(std::string b)
      : charge(b.size() + sizeof(BytesObject)), bytes(std::move(b)) {}
  std::string type_name() const override { return "bytes"; }
  std::string describe() const override;

  Charge charge;
  std::string bytes;
};

Value bytes_value(std::string bytes);

// REQUIRES: the kind is kBytes.
const std::string& bytes_of(const Value& value);

// nullptr when bytes have no such method; there are decode and hex.
const Method* find_bytes_method(std::string_view name);

}  // namespace quire::jinja
