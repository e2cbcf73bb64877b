// SPDX-License-Identifier: Apache-2.0
#include "text/jinja/blocks.h"

#include "text/jinja/arguments.h"

namespace quire::jinja {

std::optional<Value> BlockReference::attribute(std::string_view name) {
  if (name == "name") return Value::text(block_.name);
  if (name == "super") {
    return Value::undefined("there is no parent block called '" + block_.name + "'");
  }
  return std::nullopt;
}

Value BlockReference::call(Interpreter& interpreter, Arguments arguments) {
  const Bound bound(block_.name, std::move(arguments), {});
  return interpreter.call_block(block_);
}

std::optional<Value> SelfObject::attribute(std::string_view name) {
  for (const BlockStatement* block : source_.blocks) {
    if (block->name == name) return Value(Kind::kOther, std::make_shared<BlockReference>(*block));
  }
  return std::nullopt;
}

}  // namespace quire::jinja
