// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text/jinja/parser.h"

namespace quire::jinja {

// Restores the parser's context, and with it what encloses the place being parsed.
class Parser::Scope {
 public:
  explicit Scope(Parser& parser) : parser_(parser), saved_(parser.context_) {}
  ~Scope() { parser_.context_ = saved_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Parser& parser_;
  Context saved_;
};

}  // namespace quire::jinja
