// SPDX-License-Identifier: Apache-2.0
#include "prefix/disk_tier.h"

#include <quire/error.h>

#include <array>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <utility>

#include "prefix/tier_bytes.h"

namespace quire {
namespace {

constexpr std::int64_t kDatabasePage = 32768;      // few overflow pages a blob, little waste
constexpr std::int64_t kJournalBytes = 8 << 20;    // when it is written back
constexpr std::int64_t kCommitBytes = 8 << 20;     // a transaction's pages, about
constexpr std::int64_t kApplication = 0x71756972;  // "quir"
constexpr std::int64_t kVersion = 1;

constexpr const char* kSchema =
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, tokens BLOB NOT NULL,"
    " children INTEGER NOT NULL DEFAULT 0, depth INTEGER NOT NULL, used INTEGER NOT NULL,"
    " expires INTEGER NOT NULL, UNIQUE (parent, tokens));"
    "CREATE INDEX ends ON blocks (used, depth DESC) WHERE children = 0;"
    "CREATE TABLE pages (id INTEGER PRIMARY KEY, block INTEGER NOT NULL, part INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE (block, part));";

// Switching a file to its journal may find it locked by another process that does just that.
void enable_journal(Sqlite& database) {
  for (int tries = 0;; ++tries) {
    try {
      SqliteStatement statement(database, "PRAGMA journal_mode = WAL");
      statement.step();
      return;
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kIo || tries == 100) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void prepare(Sqlite& database, const std::string& path) {
  database.run(("PRAGMA page_size = " + std::to_string(kDatabasePage)).c_str());
  enable_journal(database);
  database.run(("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = " +
                std::to_string(kJournalBytes / kDatabasePage) +
                "; PRAGMA journal_size_limit = " + std::to_string(kJournalBytes))
                   .c_str());
  SqliteTransaction transaction(database, "BEGIN IMMEDIATE");
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (database.integer("SELECT count(*) FROM sqlite_master") == 0) {
    database.run(kSchema);
    database.run(("PRAGMA application_id = " + std::to_string(kApplication) +
                  "; PRAGMA user_version = " + std::to_string(kVersion))
                     .c_str());
  } else if (application != kApplication || version != kVersion) {
    throw Error(ErrorCode::kUnsupported, path,
                "expected a file of pages, version " + std::to_string(kVersion) +
                    ", found a database of another program or version");
  }
  transaction.commit();
}

std::int64_t wall_clock_us() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::span<const std::byte> bytes_of(const BlockKey& key) {
  return std::as_bytes(std::span(&key, 1));
}

}  // namespace

DiskTier::DiskTier(const std::filesystem::path& file, const DiskTierOptions& options)
    : max_bytes_(options.bytes) {
  if (max_bytes_ < 1 << 20) {
    throw Error(ErrorCode::kInvalidArgument, "disk_bytes",
                "expected at least 1 MiB, found " + std::to_string(max_bytes_));
  }
  Sqlite database(file, 2000);
  prepare(database, file.string());
  writer_ = std::make_unique<Writer>(file);
  reader_ = std::make_unique<Reader>(file);
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

DiskTier::Reader::Reader(const std::filesystem::path& file)
    : database(file, 200),
      child(database, "SELECT id, expires FROM blocks WHERE parent = ?1 AND tokens = ?2"),
      before(database,
             "SELECT id, tokens, expires FROM blocks WHERE parent = ?1 AND tokens <= ?2 "
             "ORDER BY tokens DESC LIMIT 1"),
      after(database,
            "SELECT id, tokens, expires FROM blocks WHERE parent = ?1 AND tokens > ?2 "
            "ORDER BY tokens LIMIT 1"),
      pages(database,
            "SELECT id, part, checksum, length(bytes) FROM pages WHERE block = ?1 ORDER BY part"),
      blob(database, "pages", "bytes") {}

std::int64_t DiskTier::Reader::find(std::int64_t parent, std::span<const std::byte> tokens,
                                    std::int64_t* expires) {
  child.bind(1, parent).bind(2, tokens);
  const std::int64_t id = child.step() ? child.integer(0) : 0;
  if (expires != nullptr) *expires = id != 0 ? child.integer(1) : 0;
  child.reset();
  return id;
}

DiskTier::Near DiskTier::Reader::nearest(std::int64_t parent, std::span<const TokenId> tokens) {
  const std::vector<std::byte> bytes = sortable_bytes(tokens);
  Near best;
  for (SqliteStatement* side : {&before, &after}) {
    side->bind(1, parent).bind(2, std::span(bytes));
    if (side->step()) {
      Near near{side->integer(0), tokens_of(side->bytes(1)), 0, side->integer(2)};
      near.shared = common_prefix(near.tokens, tokens);
      if (best.id == 0 || near.shared > best.shared) best = std::move(near);
    }
    side->reset();
  }
  return best;
}

// Reads a block's pages to where the reader wants them; false: no more.
bool DiskTier::deliver(const Near& block, const BlockKey& key, BlockReader& to) {
  std::chrono::milliseconds ttl{0};
  if (block.expires != 0) {
    ttl = std::chrono::milliseconds(block.expires - wall_clock_us() / 1000);
    if (ttl.count() <= 0) return false;
  }
  if (block.shared == 0) {
    to.place(block.tokens, {}, ttl);
    return false;
  }
  struct Found {
    std::int64_t row, part, checksum;
  };
  std::vector<Found> found;
  std::vector<std::int64_t> sizes;
  SqliteStatement& pages = reader_->pages;
  pages.bind(1, block.id);
  while (pages.step()) {
    found.push_back({pages.integer(0), pages.integer(1), pages.integer(2)});
    sizes.resize(static_cast<std::size_t>(found.back().part), 0);
    sizes.push_back(pages.integer(3));
  }
  pages.reset();
  const std::vector<std::span<std::byte>> places = to.place(block.tokens, sizes, ttl);
  if (places.empty()) return false;
  for (const Found& page : found) {
    const std::span<std::byte> place = places[static_cast<std::size_t>(page.part)];
    reader_->blob.read(page.row, place);
    if (page_checksum(place, key, page.part) != static_cast<std::uint64_t>(page.checksum)) {
      ++stats_.corrupt_blocks;
      damaged_.push_back(block.id);
      return false;
    }
  }
  to.placed();
  ++stats_.loaded_blocks;
  used_.push_back(block.id);
  return true;
}

void DiskTier::read(const TierText& text, std::int64_t first, BlockReader& to) {
  const SqliteTransaction snapshot(reader_->database, "BEGIN");
  std::int64_t id = reader_->find(0, bytes_of(text.space));
  BlockKey key = text.space;
  std::int64_t at = 0;
  for (; id != 0 && (at + 1) * text.block_size <= std::ssize(text.tokens); ++at) {
    const std::span<const TokenId> tokens = block_of(text, at);
    Near block{0, {}, text.block_size, 0};
    block.id = reader_->find(id, sortable_bytes(tokens), &block.expires);
    if (block.id == 0) break;
    block.tokens.assign(tokens.begin(), tokens.end());
    key = block_key(key, text.space, tokens);
    if (at >= first && !deliver(block, key, to)) return;
    id = block.id;
  }
  if (id == 0 || at < first || at * text.block_size >= std::ssize(text.tokens)) return;
  const Near near = reader_->nearest(id, block_of(text, at));
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

DiskTier::Writer::Writer(const std::filesystem::path& file)
    : Reader(file),
      insert(
          database,
          "INSERT INTO blocks (parent, tokens, depth, used, expires) VALUES (?1, ?2, ?3, ?4, ?5)"),
      add_child(database, "UPDATE blocks SET children = children + ?2 WHERE id = ?1"),
      use(database, "UPDATE blocks SET used = max(used, ?2) WHERE id = ?1"),
      prolong(database, "UPDATE blocks SET expires = ?2 WHERE id = ?1"),
      has_page(database, "SELECT 1 FROM pages WHERE block = ?1 AND part = ?2"),
      insert_page(database,
                  "INSERT INTO pages (block, part, checksum, bytes) VALUES (?1, ?2, ?3, ?4)"),
      victim(database,
             "SELECT id, parent FROM blocks WHERE children = 0 AND id <> ?1 "
             "ORDER BY used, depth DESC LIMIT 1"),
      remove_pages(database, "DELETE FROM pages WHERE block = ?1"),
      remove(database, "DELETE FROM blocks WHERE id = ?1"),
      child_of(database, "SELECT id FROM blocks WHERE parent = ?1 LIMIT 1"),
      parent_of(database, "SELECT parent FROM blocks WHERE id = ?1"),
      page_count(database, "PRAGMA page_count"),
      free_count(database, "PRAGMA freelist_count") {
  database.run(("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = " +
                std::to_string(kJournalBytes / kDatabasePage) +
                "; PRAGMA journal_size_limit = " + std::to_string(kJournalBytes))
                   .c_str());
}

std::int64_t DiskTier::Writer::bytes() {
  page_count.step();
  free_count.step();
  const std::int64_t in_use = page_count.integer(0) - free_count.integer(0);
  page_count.reset();
  free_count.reset();
  return in_use * kDatabasePage;
}

// REQUIRES: no child.
void DiskTier::Writer::drop(std::int64_t id, std::int64_t parent) {
  remove_pages.bind(1, id).run();
  remove.bind(1, id).run();
  add_child.bind(1, parent).bind(2, -1).run();
}

void DiskTier::Writer::drop_with_all_after(std::int64_t id) {
  while (true) {
    child_of.bind(1, id);
    const std::int64_t next = child_of.step() ? child_of.integer(0) : 0;
    child_of.reset();
    if (next == 0) break;
    drop_with_all_after(next);
  }
  parent_of.bind(1, id);
  const bool found = parent_of.step();
  const std::int64_t parent = found ? parent_of.integer(0) : 0;
  parent_of.reset();
  if (found) drop(id, parent);
}

// What readers used and found damaged since.
void DiskTier::note_uses() {
  std::vector<std::int64_t> used, damaged;
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
  Writer& w = *writer_;
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
  Writer& w = *writer_;
  const std::vector<std::byte> bytes = sortable_bytes(tokens);
  std::int64_t id = w.find(place.parent, bytes);
  const bool known = id != 0;
  std::int64_t need = 0;
  for (std::size_t g = 0; g < block.pages.size(); ++g) {
    const std::int64_t size = std::ssize(block.pages[g]);
    if (size > 0) need += (size / (kDatabasePage - 4) + 2) * kDatabasePage;
  }
  if (!known) {
    const Near near = w.nearest(place.parent, tokens);
    if (near.id != 0 && open && near.shared == std::ssize(tokens)) return near.id;
    if (!make_room(need + 4 * kDatabasePage, place.parent)) return 0;
    // An open block that this one continues is of no use beside it.
    if (near.id != 0 && near.shared == std::ssize(near.tokens)) w.drop(near.id, place.parent);
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
  Writer& w = *writer_;
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
  if (ttl.count() > 0) place.expires = place.now / 1000 + ttl.count();
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
