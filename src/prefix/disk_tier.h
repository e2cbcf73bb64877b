// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "io/sqlite.h"

namespace quire {

// The blocks of all texts as a tree of rows: each row names its parent row and its own tokens, so
// that following tokens from the namespace's root down proves a hit without any hash. The root is a
// row too, under parent 0, its "tokens" the digest. Tokens are kept in an encoding whose order is
// theirs, so that the block sharing most with a text is one of its two neighbours in the index.
// Pages lie in a table of their own, one row each, with a checksum bound to the block's key.
//
// Rows leave leaves first, so none ever names a parent that is gone. Two connections: loads read
// one state of the file throughout, whatever writers (of other processes too) do meanwhile.
class DiskTier final : public PageTier {
 public:
  DiskTier(const std::filesystem::path& file, const DiskTierOptions& options);
  ~DiskTier() override;

  Kind kind() const override { return Kind::kDisk; }
  void load(const TierText& text, std::int64_t first, BlockReader& reader) override;
  std::int64_t store(const TierText& text, std::int64_t first, std::span<const BlockBytes> blocks,
                     std::chrono::milliseconds ttl) override;
  TierStats stats() const override;

 private:
  struct Near {
    std::int64_t id = 0;
    std::vector<TokenId> tokens = {};
    std::int64_t shared = 0;
    std::int64_t expires = 0;  // unix time in ms; 0: never
  };

  struct Reader {
    explicit Reader(const std::filesystem::path& file);
    std::int64_t find(std::int64_t parent, std::span<const std::byte> tokens,
                      std::int64_t* expires = nullptr);
    // Of the blocks after `parent`, the one that shares most with these tokens.
    Near nearest(std::int64_t parent, std::span<const TokenId> tokens);

    Sqlite database;
    SqliteStatement child, before, after, pages;
    SqliteBlob blob;
  };

  struct Writer : Reader {
    explicit Writer(const std::filesystem::path& file);
    std::int64_t bytes();
    void drop(std::int64_t id, std::int64_t parent);
    void drop_with_all_after(std::int64_t id);

    SqliteStatement insert, add_child, use, prolong, has_page, insert_page, victim, remove_pages,
        remove, child_of, parent_of, page_count, free_count;
  };

  // Where a block is about to be put.
  struct Place {
    std::int64_t parent;
    BlockKey key;
    std::int64_t depth;
    std::int64_t now;  // unix time in us
    std::int64_t expires;
  };

  void read(const TierText& text, std::int64_t first, BlockReader& to);
  bool deliver(const Near& block, const BlockKey& key, BlockReader& to);
  void note_uses();
  bool make_room(std::int64_t bytes, std::int64_t keep);
  std::int64_t put(const Place& place, std::span<const TokenId> tokens, bool open,
                   const BlockBytes& block);
  Place walk(const TierText& text, std::int64_t count);
  std::int64_t store_some(const TierText& text, std::int64_t first,
                          std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl);

  const std::int64_t max_bytes_;

  mutable std::mutex writer_mutex_;  // taken before reader_mutex_
  std::unique_ptr<Writer> writer_;
  std::int64_t evicted_now_ = 0;

  mutable std::mutex reader_mutex_;
  std::unique_ptr<Reader> reader_;
  std::vector<std::int64_t> used_;
  std::vector<std::int64_t> damaged_;
  TierStats stats_;
};

}  // namespace quire
