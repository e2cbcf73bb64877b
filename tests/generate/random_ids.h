// SPDX-License-Identifier: Apache-2.0
// Made-up texts for the tiny models, whose vocabularies hold more than these.
#pragma once

#include <quire/token.h>

#include <cstddef>
#include <random>

namespace quire::test {

inline TokenIds random_ids(std::mt19937& random, std::size_t count) {
  TokenIds ids;
  for (std::size_t i = 0; i < count; ++i) ids.push_back(static_cast<TokenId>(3 + random() % 60));
  return ids;
}

}  // namespace quire::test
