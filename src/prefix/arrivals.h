// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kv/shared_blocks.h"

namespace quire {

// Receives a text's blocks from a tier as pages of a pool, and compares every token with the
// text's own: what a tier gives is believed no more than a hash.
//
// Thread-safety: none.
class Arrivals final : public BlockReader {
 public:
  Arrivals(const PagePool& pool, const TierText& text, std::int64_t first)
      : pool_(pool), text_(text), next_(first) {}

  std::vector<std::span<std::byte>> place(std::span<const TokenId> tokens,
                                          std::span<const std::int64_t> bytes,
                                          std::chrono::milliseconds ttl) override;
  void placed() override;

  struct Block {
    TokenIds tokens;
    std::int64_t shared;  // of them, those that the text goes on with
    BlockPages pages;
    std::chrono::milliseconds ttl;
  };
  std::vector<Block> blocks;
  std::optional<TokenId> had;  // how the last block goes on, if otherwise than the text

 private:
  const PagePool& pool_;
  const TierText& text_;
  std::int64_t next_;
  bool ended_ = false;
  Block block_;
  SharedBlocks::NewPages pages_;
};

}  // namespace quire
