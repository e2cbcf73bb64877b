// SPDX-License-Identifier: Apache-2.0
#include "prefix/disk_file.h"

#include <quire/error.h>

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "prefix/tier_bytes.h"

namespace quire {
namespace {

constexpr std::int64_t kJournalBytes = 8 << 20;    // when it is written back
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

void set_journal(Sqlite& database) {
  database.run(("PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = " +
                std::to_string(kJournalBytes / kDatabasePage) +
                "; PRAGMA journal_size_limit = " + std::to_string(kJournalBytes))
                   .c_str());
}

}  // namespace

void prepare_disk_file(const std::filesystem::path& file) {
  Sqlite database(file, 2000);
  database.run(("PRAGMA page_size = " + std::to_string(kDatabasePage)).c_str());
  enable_journal(database);
  set_journal(database);
  SqliteTransaction transaction(database, "BEGIN IMMEDIATE");
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t version = database.integer("PRAGMA user_version");
  if (database.integer("SELECT count(*) FROM sqlite_master") == 0) {
    database.run(kSchema);
    database.run(("PRAGMA application_id = " + std::to_string(kApplication) +
                  "; PRAGMA user_version = " + std::to_string(kVersion))
                     .c_str());
  } else if (application != kApplication || version != kVersion) {
    throw Error(ErrorCode::kUnsupported, file.string(),
                "expected a file of pages, version " + std::to_string(kVersion) +
                    ", found a database of another program or version");
  }
  transaction.commit();
}

DiskReader::DiskReader(const std::filesystem::path& file)
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

std::int64_t DiskReader::find(std::int64_t parent, std::span<const std::byte> tokens,
                              std::int64_t* expires) {
  child.bind(1, parent).bind(2, tokens);
  const std::int64_t id = child.step() ? child.integer(0) : 0;
  if (expires != nullptr) *expires = id != 0 ? child.integer(1) : 0;
  child.reset();
  return id;
}

DiskReader::Near DiskReader::nearest(std::int64_t parent, std::span<const TokenId> tokens) {
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

DiskWriter::DiskWriter(const std::filesystem::path& file)
    : DiskReader(file),
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
  set_journal(database);
}

std::int64_t DiskWriter::bytes() {
  page_count.step();
  free_count.step();
  const std::int64_t in_use = page_count.integer(0) - free_count.integer(0);
  page_count.reset();
  free_count.reset();
  return in_use * kDatabasePage;
}

// REQUIRES: no child.
void DiskWriter::drop(std::int64_t id, std::int64_t parent) {
  remove_pages.bind(1, id).run();
  remove.bind(1, id).run();
  add_child.bind(1, parent).bind(2, -1).run();
}

void DiskWriter::drop_with_all_after(std::int64_t id) {
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

}  // namespace quire
