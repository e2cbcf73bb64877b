// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/jinja/interpreter.h"

namespace quire::jinja {

// self.name, which calls a block of the template by its name.
class BlockReference final : public Object {
 public:
  explicit BlockReference(const BlockStatement& block) : block_(block) {}
  std::string type_name() const override { return "BlockReference"; }
  std::optional<Value> attribute(std::string_view name) override;
  bool callable() const override { return true; }
  Value call(Interpreter& interpreter, Arguments arguments) override;

 private:
  const BlockStatement& block_;
};

// The variable `self`: the template's blocks as attributes.
class SelfObject final : public Object {
 public:
  explicit SelfObject(const Template& source) : source_(source) {}
  std::string type_name() const override { return "TemplateReference"; }
  std::string describe() const override { return "<TemplateReference None>"; }
  std::optional<Value> attribute(std::string_view name) override;

 private:
  const Template& source_;
};

}  // namespace quire::jinja
