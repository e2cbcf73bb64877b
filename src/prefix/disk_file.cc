// SPDX-License-Identifier: Apache-2.0
#include "prefix/disk_file.h"

#include <quire/error.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <unordered_set>
#include <utility>

#include "prefix/tier_bytes.h"

namespace quire {
namespace {

constexpr std::int64_t kJournalBytes = 8 << 20;    // when it is written back
constexpr std::int64_t kApplication = 0x71756972;  // "quir"
constexpr std::int64_t kVersion = 1;
constexpr std::int64_t kMaxParts = 4096;  // of a block: no model has as many layers

// By name, which is an order to make them in too.
constexpr const char* kSchema[] = {
    "CREATE TABLE blocks (id INTEGER PRIMARY KEY, parent INTEGER NOT NULL, tokens BLOB NOT NULL,"
    " children INTEGER NOT NULL DEFAULT 0, depth INTEGER NOT NULL, used INTEGER NOT NULL,"
    " expires INTEGER NOT NULL, UNIQUE (parent, tokens))",
    "CREATE INDEX ends ON blocks (used, depth DESC) WHERE children = 0",
    "CREATE TABLE pages (id INTEGER PRIMARY KEY, block INTEGER NOT NULL, part INTEGER NOT NULL,"
    " checksum INTEGER NOT NULL, bytes BLOB NOT NULL, UNIQUE (block, part))"};

// The statements that made the file's tables, indices, views and triggers, by name.
std::vector<std::string> schema_of(Sqlite& database) {
  SqliteStatement statement(database,
                            "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name");
  std::vector<std::string> schema;
  while (statement.step()) {
    const std::span<const std::byte> sql = statement.bytes(0);
    schema.emplace_back(reinterpret_cast<const char*>(sql.data()), sql.size());
  }
  return schema;
}

// Whether the file has this version's tables and nothing else; false: it is empty. Throws Error
// kUnsupported for any other. REQUIRES: a transaction.
bool is_ours(Sqlite& database, const std::filesystem::path& file) {
  const std::int64_t application = database.integer("PRAGMA application_id");
  const std::int64_t version = database.integer("PRAGMA user_version");
  const std::vector<std::string> schema = schema_of(database);
  if (application == 0 && version == 0 && schema.empty()) return false;
  if (application == kApplication && version == kVersion && std::ranges::equal(schema, kSchema)) {
    return true;
  }
  throw Error(ErrorCode::kUnsupported, file.string(),
              "expected a file of pages, version " + std::to_string(kVersion) +
                  ", found a database of another program or version");
}

// Leaves a file alone that is another's. Switching one to its journal may find it locked by another
// process that does just that.
void enable_journal(Sqlite& database, const std::filesystem::path& file) {
  for (int tries = 0;; ++tries) {
    try {
      {
        const SqliteTransaction look(database, "BEGIN");
        is_ours(database, file);
      }
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
  enable_journal(database, file);
  set_journal(database);
  SqliteTransaction transaction(database, "BEGIN IMMEDIATE");
  if (!is_ours(database, file)) {
    for (const char* statement : kSchema) database.run(statement);
    database.run(("PRAGMA application_id = " + std::to_string(kApplication) +
                  "; PRAGMA user_version = " + std::to_string(kVersion))
                     .c_str());
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

std::optional<std::vector<DiskReader::Page>> DiskReader::pages_of(std::int64_t block) {
  std::vector<Page> found;
  bool sound = true;
  for (pages.bind(1, block); sound && pages.step();) {
    const std::int64_t part = pages.integer(1);
    sound = part >= std::ssize(found) && part < kMaxParts;
    if (sound) {
      found.resize(static_cast<std::size_t>(part));
      found.push_back({pages.integer(0), pages.integer(2), pages.integer(3)});
    }
  }
  pages.reset();
  if (!sound) return std::nullopt;
  return found;
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
      child_of(database, "SELECT id FROM blocks WHERE parent = ?1"),
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
  // Rows of a forged file may follow each other in a circle.
  std::vector<std::int64_t> rows = {id};
  std::unordered_set<std::int64_t> seen = {id};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (child_of.bind(1, rows[i]); child_of.step();) {
      const std::int64_t next = child_of.integer(0);
      if (seen.insert(next).second) rows.push_back(next);
    }
    child_of.reset();
  }
  for (auto row = rows.rbegin(); row != rows.rend(); ++row) {
    parent_of.bind(1, *row);
    const bool found = parent_of.step();
    const std::int64_t parent = found ? parent_of.integer(0) : 0;
    parent_of.reset();
    if (found) drop(*row, parent);
  }
}

}  // namespace quire
