// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <span>
#include <unordered_set>

#include "prefix/disk_file.h"

namespace quire {

// PageTier over a file of pages, see disk_file.h. Two connections: loads read one state of the file
// throughout, whatever writers (of other processes too) do meanwhile.
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
  // Where a block is about to be put.
  struct Place {
    std::int64_t parent;
    BlockKey key;
    std::int64_t depth;
    std::int64_t now;  // unix time in us
    std::int64_t expires;
  };

  void read(const TierText& text, std::int64_t first, BlockReader& to);
  bool deliver(const DiskReader::Near& block, const BlockKey& key, BlockReader& to);
  void note_uses();
  bool make_room(std::int64_t bytes, std::int64_t keep);
  std::int64_t put(const Place& place, std::span<const TokenId> tokens, bool open,
                   const BlockBytes& block);
  Place walk(const TierText& text, std::int64_t count);
  std::int64_t store_some(const TierText& text, std::int64_t first,
                          std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl);

  const std::int64_t max_bytes_;

  mutable std::mutex writer_mutex_;  // taken before reader_mutex_
  std::unique_ptr<DiskWriter> writer_;
  std::int64_t evicted_now_ = 0;

  mutable std::mutex reader_mutex_;
  std::unique_ptr<DiskReader> reader_;
  std::unordered_set<std::int64_t> used_;  // rows, until the writer next looks
  std::unordered_set<std::int64_t> damaged_;
  TierStats stats_;
};

}  // namespace quire
