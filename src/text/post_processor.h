// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/token.h>

#include <optional>
#include <vector>

namespace quire {

// What surrounds a text's ids when special tokens are asked for: a template with places for the
// text, which any number of post-processors may wrap again.
//
// Thread-safety: immutable once built.
class PostProcessor {
 public:
  // An item without an id is the place of the text.
  using Template = std::vector<std::optional<TokenId>>;

  // Wraps what the templates added before give.
  void add(Template parts) { templates_.push_back(std::move(parts)); }

  TokenIds apply(TokenIds ids) const;

  // The id that comes first, whatever the text; nothing if that is the text's own.
  std::optional<TokenId> first() const;

 private:
  std::vector<Template> templates_;
};

}  // namespace quire
