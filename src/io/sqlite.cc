// SPDX-License-Identifier: Apache-2.0
#include "io/sqlite.h"

#include <quire/error.h>
#include <sqlite3.h>

namespace quire {

void Sqlite::Close::operator()(sqlite3* handle) const { sqlite3_close_v2(handle); }

Sqlite::Sqlite(const std::filesystem::path& path, int busy_ms) : path_(path.string()) {
  sqlite3* handle = nullptr;
  const int failed =
      sqlite3_open_v2(path_.c_str(), &handle,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, nullptr);
  handle_.reset(handle);
  if (failed != SQLITE_OK) fail("opening it");
  sqlite3_busy_timeout(handle, busy_ms);
}

void Sqlite::fail(std::string_view doing) const {
  const int code = handle_ ? sqlite3_errcode(handle_.get()) : SQLITE_NOMEM;
  const ErrorCode kind = code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? ErrorCode::kCorrupt
                         : code == SQLITE_NOMEM                          ? ErrorCode::kOutOfMemory
                                                                         : ErrorCode::kIo;
  throw Error(kind, path_,
              std::string(doing) + ": " +
                  (handle_ ? sqlite3_errmsg(handle_.get()) : "the host refused an allocation"));
}

void Sqlite::run(const char* sql) {
  if (sqlite3_exec(get(), sql, nullptr, nullptr, nullptr) != SQLITE_OK) fail(sql);
}

std::int64_t Sqlite::integer(const std::string& sql) {
  SqliteStatement statement(*this, sql.c_str());
  return statement.step() ? statement.integer(0) : 0;
}

std::int64_t Sqlite::last_row() const { return sqlite3_last_insert_rowid(get()); }

SqliteTransaction::SqliteTransaction(Sqlite& database, const char* begin) : database_(database) {
  // One before could not even be undone, for want of memory.
  if (sqlite3_get_autocommit(database.get()) == 0) database_.run("ROLLBACK");
  database_.run(begin);
}

SqliteTransaction::~SqliteTransaction() {
  // An error may have ended the transaction already.
  if (open_) sqlite3_exec(database_.get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void SqliteTransaction::commit() {
  database_.run("COMMIT");
  open_ = false;
}

void SqliteStatement::Finalize::operator()(sqlite3_stmt* statement) const {
  sqlite3_finalize(statement);
}

SqliteStatement::SqliteStatement(Sqlite& database, const char* sql) : database_(database) {
  sqlite3_stmt* handle = nullptr;
  if (sqlite3_prepare_v2(database.get(), sql, -1, &handle, nullptr) != SQLITE_OK) {
    database.fail(sql);
  }
  handle_.reset(handle);
}

// An exception may have left the statement in the middle of its rows.
void SqliteStatement::rewind() {
  if (sqlite3_stmt_busy(handle_.get()) != 0) reset();
}

SqliteStatement& SqliteStatement::bind(int parameter, std::int64_t value) {
  rewind();
  if (sqlite3_bind_int64(handle_.get(), parameter, value) != SQLITE_OK) database_.fail("bind");
  return *this;
}

SqliteStatement& SqliteStatement::bind(int parameter, std::span<const std::byte> value) {
  rewind();
  if (sqlite3_bind_blob64(handle_.get(), parameter, value.data(), value.size(), SQLITE_STATIC) !=
      SQLITE_OK) {
    database_.fail("bind");
  }
  return *this;
}

bool SqliteStatement::step() {
  const int result = sqlite3_step(handle_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  sqlite3_reset(handle_.get());
  database_.fail(sqlite3_sql(handle_.get()));
}

void SqliteStatement::reset() { sqlite3_reset(handle_.get()); }

void SqliteStatement::run() {
  step();
  reset();
}

std::int64_t SqliteStatement::integer(int column) const {
  return sqlite3_column_int64(handle_.get(), column);
}

std::span<const std::byte> SqliteStatement::bytes(int column) const {
  const auto* data = static_cast<const std::byte*>(sqlite3_column_blob(handle_.get(), column));
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(handle_.get(), column))};
}

void SqliteBlob::Close::operator()(sqlite3_blob* blob) const { sqlite3_blob_close(blob); }

void SqliteBlob::read(std::int64_t row, std::span<std::byte> into) {
  if (!handle_ || sqlite3_blob_reopen(handle_.get(), row) != SQLITE_OK) {
    handle_.reset();
    sqlite3_blob* handle = nullptr;
    const int failed = sqlite3_blob_open(database_.get(), "main", table_, column_, row, 0, &handle);
    handle_.reset(handle);
    if (failed != SQLITE_OK) database_.fail("opening a blob");
  }
  if (sqlite3_blob_read(handle_.get(), into.data(), static_cast<int>(into.size()), 0) !=
      SQLITE_OK) {
    database_.fail("reading a blob");
  }
}

}  // namespace quire
