// SPDX-License-Identifier: Apache-2.0
#include "text/post_processor.h"

#include <utility>

namespace quire {

TokenIds PostProcessor::apply(TokenIds ids) const {
  for (const Template& parts : templates_) {
    TokenIds wrapped;
    wrapped.reserve(ids.size() + parts.size());
    for (const auto& part : parts) {
      if (part) {
        wrapped.push_back(*part);
      } else {
        wrapped.insert(wrapped.end(), ids.begin(), ids.end());
      }
    }
    ids = std::move(wrapped);
  }
  return ids;
}

std::optional<TokenId> PostProcessor::first() const {
  std::optional<TokenId> first;
  for (const Template& parts : templates_) {
    if (!parts.empty() && parts.front()) first = parts.front();
  }
  return first;
}

}  // namespace quire
