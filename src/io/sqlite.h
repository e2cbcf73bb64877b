// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;
struct sqlite3_blob;

// SQLite's C interface with handles that close themselves and failures that are Errors about the
// file: kCorrupt (no database, or a damaged one), kOutOfMemory, kIo for everything else.
//
// Thread-safety: one connection, with its statements and blobs, on one thread at a time.
namespace quire {

class Sqlite {
 public:
  // Opens or makes the file. Waits up to busy_ms where another connection has the lock.
  Sqlite(const std::filesystem::path& path, int busy_ms);

  void run(const char* sql);                     // statements without results
  std::int64_t integer(const std::string& sql);  // the first column of the first row
  std::int64_t last_row() const;

  sqlite3* get() const { return handle_.get(); }
  [[noreturn]] void fail(std::string_view doing) const;

 private:
  struct Close {
    void operator()(sqlite3* handle) const;
  };
  std::string path_;
  std::unique_ptr<sqlite3, Close> handle_;
};

// Commits when told to; else whatever was done since is undone.
class SqliteTransaction {
 public:
  // `begin`: "BEGIN" to read one state throughout, "BEGIN IMMEDIATE" to write.
  SqliteTransaction(Sqlite& database, const char* begin);
  ~SqliteTransaction();
  SqliteTransaction(const SqliteTransaction&) = delete;
  SqliteTransaction& operator=(const SqliteTransaction&) = delete;

  void commit();

 private:
  Sqlite& database_;
  bool open_ = true;
};

// A prepared statement. Parameters and columns count from 1 and 0, as in SQLite. Bound bytes must
// live until the next reset(); columns until the next step() or reset().
class SqliteStatement {
 public:
  SqliteStatement(Sqlite& database, const char* sql);

  SqliteStatement& bind(int parameter, std::int64_t value);
  SqliteStatement& bind(int parameter, std::span<const std::byte> value);

  bool step();  // true: there is a row
  void reset();
  void run();  // step(), without a row, and reset()

  std::int64_t integer(int column) const;
  std::span<const std::byte> bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  void rewind();

  Sqlite& database_;
  std::unique_ptr<sqlite3_stmt, Finalize> handle_;
};

// Reads blobs of one column in place, without a copy of the whole row. It holds the state of the
// file that it reads until it is closed.
class SqliteBlob {
 public:
  SqliteBlob(Sqlite& database, const char* table, const char* column)
      : database_(database), table_(table), column_(column) {}
  void read(std::int64_t row, std::span<std::byte> into);
  void close() { handle_.reset(); }

 private:
  struct Close {
    void operator()(sqlite3_blob* blob) const;
  };
  Sqlite& database_;
  const char* table_;
  const char* column_;
  std::unique_ptr<sqlite3_blob, Close> handle_;
};

}  // namespace quire
