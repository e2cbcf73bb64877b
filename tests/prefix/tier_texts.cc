// SPDX-License-Identifier: Apache-2.0
#include "tests/prefix/tier_texts.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <random>
#include <system_error>

namespace quire::testing {

TokenIds TierTexts::tokens(std::uint32_t seed, std::int64_t count) {
  std::mt19937 random(seed);
  TokenIds tokens;
  for (std::int64_t i = 0; i < count; ++i) {
    tokens.push_back(static_cast<TokenId>(random() % 50000));
  }
  return tokens;
}

std::vector<std::byte> TierTexts::page(std::span<const TokenId> text, std::int64_t group) const {
  std::uint32_t seed = static_cast<std::uint32_t>(group);
  for (const TokenId token : text) seed = seed * 16777619u ^ static_cast<std::uint32_t>(token);
  std::vector<std::byte> bytes(static_cast<std::size_t>(page_bytes_ + group));
  for (std::byte& byte : bytes) {
    seed = seed * 1664525u + 1013904223u;
    byte = static_cast<std::byte>(seed >> 24);
  }
  return bytes;
}

std::int64_t TierTexts::store(PageTier& tier, const TokenIds& tokens, std::int64_t first,
                              std::chrono::milliseconds ttl) const {
  std::vector<std::vector<std::byte>> pages;
  std::vector<BlockBytes> blocks;
  const std::int64_t count = (std::ssize(tokens) + kBlock - 1) / kBlock;
  pages.reserve(static_cast<std::size_t>(2 * count));
  for (std::int64_t i = first; i < count; ++i) {
    const std::int64_t end = std::min((i + 1) * kBlock, std::ssize(tokens));
    const auto text = std::span(tokens).first(static_cast<std::size_t>(end));
    BlockBytes block;
    for (const std::int64_t group : {0, 1}) {
      if (group == 1 && i % 3 == 2) {
        block.pages.emplace_back();
        continue;
      }
      pages.push_back(page(text, group));
      block.pages.emplace_back(pages.back());
    }
    blocks.push_back(std::move(block));
  }
  return tier.store(text(tokens), first, blocks, ttl);
}

class TierTexts::Reader final : public BlockReader {
 public:
  Reader(const TierTexts& texts, std::span<const TokenId> tokens, std::int64_t first)
      : texts_(texts), wanted_(tokens), at_(first * kBlock) {}

  std::vector<std::span<std::byte>> place(std::span<const TokenId> tokens,
                                          std::span<const std::int64_t> bytes,
                                          std::chrono::milliseconds) override {
    known_.assign(wanted_.begin(), wanted_.begin() + at_);
    known_.insert(known_.end(), tokens.begin(), tokens.end());
    const auto rest = wanted_.subspan(static_cast<std::size_t>(at_));
    shared_ = std::mismatch(tokens.begin(), tokens.end(), rest.begin(), rest.end()).first -
              tokens.begin();
    EXPECT_FALSE(ended_);
    ended_ = shared_ < kBlock;
    EXPECT_EQ(bytes.empty(), shared_ == 0);
    pages_.clear();
    std::vector<std::span<std::byte>> places;
    for (const std::int64_t size : bytes) {
      places.emplace_back(pages_.emplace_back(static_cast<std::size_t>(size)));
    }
    return places;
  }

  void placed() override {
    const std::int64_t block = at_ / kBlock;
    pages_.resize(2);  // absent ones may or may not be told
    EXPECT_TRUE(pages_[0] == texts_.page(known_, 0));
    EXPECT_TRUE(pages_[1] == (block % 3 == 2 ? std::vector<std::byte>() : texts_.page(known_, 1)));
    at_ += shared_;
  }

  std::int64_t found() const { return at_; }

 private:
  const TierTexts& texts_;
  std::span<const TokenId> wanted_;
  std::int64_t at_;
  TokenIds known_;
  std::int64_t shared_ = 0;
  bool ended_ = false;
  std::vector<std::vector<std::byte>> pages_;
};

std::int64_t TierTexts::load(PageTier& tier, const TokenIds& tokens, std::int64_t first) const {
  Reader reader(*this, tokens, first);
  tier.load(text(tokens), first, reader);
  return reader.found();
}

void expect_longest_prefixes(PageTier& tier) {
  const TierTexts texts;
  std::mt19937 random(5);
  std::vector<TokenIds> known;
  for (int step = 0; step < 60; ++step) {
    TokenIds text;
    if (!known.empty()) {
      text = known[random() % known.size()];
      text.resize(random() % (text.size() + 1));
    }
    for (std::size_t more = 1 + random() % 40; more > 0; --more) {
      text.push_back(static_cast<TokenId>(random() % 3));
    }
    std::int64_t longest = 0;
    for (const TokenIds& other : known) {
      const auto end = std::mismatch(text.begin(), text.end(), other.begin(), other.end()).first;
      longest = std::max<std::int64_t>(longest, end - text.begin());
    }
    ASSERT_EQ(texts.load(tier, text), longest) << step;
    ASSERT_EQ(texts.store(tier, text), (std::ssize(text) + 15) / 16);
    known.push_back(std::move(text));
  }
}

}  // namespace quire::testing
