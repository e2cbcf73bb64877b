// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tests/io/temporary_folder.h"

namespace quire::testing {

using test::TemporaryFolder;

// Texts whose pages follow from their tokens, so that whoever reads one back can tell whether it
// is the right one. Two layer groups; the second lacks every third block's page.
class TierTexts {
 public:
  static constexpr std::int64_t kBlock = 16;
  explicit TierTexts(std::int64_t page_bytes = 3000) : page_bytes_(page_bytes) {}

  static TokenIds tokens(std::uint32_t seed, std::int64_t count);
  static TierText text(const TokenIds& tokens) { return {{7, 9}, kBlock, tokens}; }

  // How many blocks of the text the tier says it keeps.
  std::int64_t store(PageTier& tier, const TokenIds& tokens, std::int64_t first = 0,
                     std::chrono::milliseconds ttl = {}) const;

  // How many of the tokens the tier knows. Fails the test if any page is wrong.
  std::int64_t load(PageTier& tier, const TokenIds& tokens, std::int64_t first = 0) const;

 private:
  class Reader;
  std::vector<std::byte> page(std::span<const TokenId> text, std::int64_t group) const;

  std::int64_t page_bytes_;
};

// What a tier finds of many texts that begin alike is what a naive search finds.
void expect_longest_prefixes(PageTier& tier);

}  // namespace quire::testing
