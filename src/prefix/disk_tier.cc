// SPDX-License-Identifier: Apache-2.0
#include "prefix/disk_tier.h"

#include <quire/error.h>

#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "io/saturate.h"
#include "prefix/tier_bytes.h"

namespace quire {
namespace {

constexpr std::int64_t kCommitBytes = 8 << 20;  // a transaction's pages, about
constexpr std::size_t kMaxNoted = 1 << 16;      // rows

std::int64_t wall_clock_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::span<const std::byte> bytes_of(const BlockKey& key) {
  return std::as_bytes(std::span(&key, 1));
}

// Of one who reads for long and stores nothing, what does not fit is lost.
void note(std::unordered_set<std::int64_t>& rows, std::int64_t row) {
  if (rows.size() < kMaxNoted) rows.insert(row);
}

}  // namespace

DiskTier::DiskTier(const std::filesystem::path& file, const DiskTierOptions& options)
    : max_bytes_(options.bytes) {
  if (max_bytes_ < 1 << 20) {
    throw Error(ErrorCode::kInvalidArgument, "disk_bytes",
                "expected at least 1 MiB, found " + std::to_string(max_bytes_));
  }
  prepare_disk_file(file);
  writer_ = std::make_unique<DiskWriter>(file);
  reader_ = std::make_unique<DiskReader>(file);
  stats_.name = "disk";
  stats_.bytes = writer_->bytes();
}

DiskTier::~DiskTier() {
  try {
    const std::lock_guard lock(writer_mutex_);
    SqliteTransaction transaction(writer_->database, "BEGIN IMMEDIATE");
    note_uses();
    transaction.commit();
  } catch (const std::exception&) {
    // What was used lately is all that is lost.
  }
}

// Reads a block's pages to where the reader wants them; false: no more.
bool DiskTier::deliver(const DiskReader::Near& block, const BlockKey& key, BlockReader& to) {
  std::chrono::milliseconds ttl{0};
  if (block.expires != 0) {
    ttl = std::chrono::milliseconds(block.expires - wall_clock_us() / 1000);
    if (ttl.count() <= 0) return false;
  }
  if (block.shared == 0) {
    to.place(block.tokens, {}, ttl);
    return false;
  }
  const auto damaged = [&] {
    ++stats_.corrupt_blocks;
    note(damaged_, block.id);
    return false;
  };
  const std::optional<std::vector<DiskReader::Page>> pages = reader_->pages_of(block.id);
  if (!pages) return damaged();
  std::vector<std::int64_t> sizes;
  for (const DiskReader::Page& page : *pages) sizes.push_back(page.bytes);
  const std::vector<std::span<std::byte>> places = to.place(block.tokens, sizes, ttl);
  if (places.empty()) return false;
  for (std::size_t part = 0; part < pages->size(); ++part) {
    const DiskReader::Page& page = (*pages)[part];
    if (page.bytes == 0) continue;
    reader_->blob.read(page.row, places[part]);
    if (page_checksum(places[part], key, static_cast<std::int64_t>(part)) !=
        static_cast<std::uint64_t>(page.checksum)) {
      return damaged();
    }
  }
  to.placed();
  ++stats_.loaded_blocks;
  note(used_, block.id);
  return true;
}

void DiskTier::read(const TierText& text, std::int64_t first, BlockReader& to) {
  const SqliteTransaction snapshot(reader_->database, "BEGIN");
  std::int64_t id = reader_->find(0, bytes_of(text.space));
  BlockKey key = text.space;
  std::int64_t at = 0;
  for (; id != 0 && (at + 1) * text.block_size <= std::ssize(text.tokens); ++at) {
    const std::span<const TokenId> tokens = block_of(text, at);
    DiskReader::Near block{0, {}, text.block_size, 0};
    block.id = reader_->find(id, sortable_bytes(tokens), &block.expires);
    if (block.id == 0) break;
    block.tokens.assign(tokens.begin(), tokens.end());
    key = block_key(key, text.space, tokens);
    if (at >= first && !deliver(block, key, to)) return;
    id = block.id;
  }
  if (id == 0 || at < first || at * text.block_size >= std::ssize(text.tokens)) return;
  const DiskReader::Near near = reader_->nearest(id, block_of(text, at));
  if (near.id != 0) deliver(near, block_key(key, text.space, near.tokens), to);
}

void DiskTier::load(const TierText& text, std::int64_t first, BlockReader& reader) {
  const std::lock_guard lock(reader_mutex_);
  try {
    read(text, first, reader);
  } catch (const std::exception&) {
    ++stats_.failures;
  }
  reader_->blob.close();
}

// What readers used and found damaged since.
void DiskTier::note_uses() {
  std::unordered_set<std::int64_t> used, damaged;
  {
    const std::lock_guard lock(reader_mutex_);
    used.swap(used_);
    damaged.swap(damaged_);
  }
  const std::int64_t now = wall_clock_us();
  for (const std::int64_t id : used) writer_->use.bind(1, id).bind(2, now).run();
  for (const std::int64_t id : damaged) writer_->drop_with_all_after(id);
}

bool DiskTier::make_room(std::int64_t bytes, std::int64_t keep) {
  DiskWriter& w = *writer_;
  while (w.bytes() + bytes > max_bytes_) {
    w.victim.bind(1, keep);
    const bool found = w.victim.step();
    const std::int64_t id = found ? w.victim.integer(0) : 0;
    const std::int64_t parent = found ? w.victim.integer(1) : 0;
    w.victim.reset();
    if (!found) return false;
    w.drop(id, parent);
    if (parent != 0) ++evicted_now_;
  }
  return true;
}

// Adds what is absent of a block; its id, or 0 if there is no room.
std::int64_t DiskTier::put(const Place& place, std::span<const TokenId> tokens, bool open,
                           const BlockBytes& block) {
  DiskWriter& w = *writer_;
  const std::vector<std::byte> bytes = sortable_bytes(tokens);
  std::int64_t id = w.find(place.parent, bytes);
  const bool known = id != 0;
  std::int64_t need = 0;
  for (std::size_t g = 0; g < block.pages.size(); ++g) {
    const std::int64_t size = std::ssize(block.pages[g]);
    if (size > 0) need += (size / (kDatabasePage - 4) + 2) * kDatabasePage;
  }
  if (!known) {
    const DiskReader::Near near = w.nearest(place.parent, tokens);
    if (near.id != 0 && open && near.shared == std::ssize(tokens)) return near.id;
    // An open block that this one continues is of no use beside it. It goes first: what makes room
    // may take it too, and no row may be dropped twice.
    if (near.id != 0 && near.shared == std::ssize(near.tokens)) w.drop(near.id, place.parent);
    if (!make_room(need + 4 * kDatabasePage, place.parent)) return 0;
    w.insert.bind(1, place.parent).bind(2, std::span(bytes)).bind(3, place.depth);
    w.insert.bind(4, place.now).bind(5, place.expires).run();
    id = w.database.last_row();
    w.add_child.bind(1, place.parent).bind(2, 1).run();
  } else {
    w.use.bind(1, id).bind(2, place.now).run();
    w.prolong.bind(1, id).bind(2, place.expires).run();
  }
  for (std::size_t g = 0; g < block.pages.size(); ++g) {
    if (block.pages[g].empty()) continue;
    const auto group = static_cast<std::int64_t>(g);
    w.has_page.bind(1, id).bind(2, group);
    const bool has = w.has_page.step();
    w.has_page.reset();
    if (has) continue;
    if (known && !make_room(need, id)) return 0;
    const std::uint64_t checksum = page_checksum(block.pages[g], place.key, group);
    w.insert_page.bind(1, id).bind(2, group).bind(3, static_cast<std::int64_t>(checksum));
    w.insert_page.bind(4, block.pages[g]).run();
  }
  return id;
}

// The block at the end of the text's first `count` blocks, all of them now used; 0 if one is gone.
DiskTier::Place DiskTier::walk(const TierText& text, std::int64_t count) {
  DiskWriter& w = *writer_;
  Place place{0, text.space, 0, wall_clock_us(), 0};
  place.parent = w.find(0, bytes_of(text.space));
  if (place.parent == 0) {
    w.insert.bind(1, 0)
        .bind(2, bytes_of(text.space))
        .bind(3, 0)
        .bind(4, place.now)
        .bind(5, 0)
        .run();
    place.parent = w.database.last_row();
  }
  for (; place.depth < count && place.parent != 0; ++place.depth) {
    const std::span<const TokenId> tokens = block_of(text, place.depth);
    place.parent = w.find(place.parent, sortable_bytes(tokens));
    place.key = block_key(place.key, text.space, tokens);
    if (place.parent != 0) w.use.bind(1, place.parent).bind(2, place.now).run();
  }
  return place;
}

// One transaction's worth of blocks; how many.
std::int64_t DiskTier::store_some(const TierText& text, std::int64_t first,
                                  std::span<const BlockBytes> blocks,
                                  std::chrono::milliseconds ttl) {
  SqliteTransaction transaction(writer_->database, "BEGIN IMMEDIATE");
  evicted_now_ = 0;
  note_uses();
  Place place = walk(text, first);
  if (ttl.count() > 0) place.expires = saturating_sum(place.now / 1000, ttl.count());
  std::int64_t stored = 0;
  for (std::int64_t written = 0;
       place.parent != 0 && stored < std::ssize(blocks) && written < kCommitBytes; ++stored) {
    const BlockBytes& block = blocks[static_cast<std::size_t>(stored)];
    const std::span<const TokenId> tokens = block_of(text, first + stored);
    place.key = block_key(place.key, text.space, tokens);
    ++place.depth;
    place.parent = put(place, tokens, std::ssize(tokens) < text.block_size, block);
    if (place.parent == 0) break;
    for (const auto& page : block.pages) written += std::ssize(page);
  }
  transaction.commit();
  const std::lock_guard lock(reader_mutex_);
  stats_.stored_blocks += stored;
  stats_.evicted_blocks += evicted_now_;
  stats_.bytes = writer_->bytes();
  return stored;
}

std::int64_t DiskTier::store(const TierText& text, std::int64_t first,
                             std::span<const BlockBytes> blocks, std::chrono::milliseconds ttl) {
  const std::lock_guard lock(writer_mutex_);
  std::int64_t stored = 0;
  bool failed = false;
  try {
    while (stored < std::ssize(blocks)) {
      const std::int64_t more =
          store_some(text, first + stored, blocks.subspan(static_cast<std::size_t>(stored)), ttl);
      if (more == 0) break;
      stored += more;
    }
  } catch (const std::exception&) {
    failed = true;
  }
  const std::lock_guard reading(reader_mutex_);
  stats_.rejected_blocks += std::ssize(blocks) - stored;
  if (failed) ++stats_.failures;
  return stored;
}

TierStats DiskTier::stats() const {
  const std::lock_guard lock(reader_mutex_);
  return stats_;
}

std::shared_ptr<PageTier> make_disk_tier(const std::filesystem::path& file,
                                         const DiskTierOptions& options) {
  return std::make_shared<DiskTier>(file, options);
}

}  // namespace quire
