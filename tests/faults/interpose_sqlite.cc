// SPDX-License-Identifier: Apache-2.0
// SQLite's functions as the library calls them; calls that SQLite makes itself go on to it.
#include <dlfcn.h>
#include <sqlite3.h>

#include <atomic>

#include "tests/faults/interpose.h"

namespace quire::faults {
namespace {

std::atomic<int> failed{SQLITE_OK};  // what sqlite3_errcode is to tell

// The code to fail with, or SQLITE_OK.
int failure(const void* caller, Call call, int code) {
  if (!is_ours(caller) || !fails(call)) return SQLITE_OK;
  failed = code;
  return code;
}

template <typename Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

}  // namespace
}  // namespace quire::faults

using quire::faults::Call;
using quire::faults::failure;
using quire::faults::find;
using quire::faults::is_ours;

#pragma GCC visibility push(default)
extern "C" {

int sqlite3_errcode(sqlite3* database) {
  static const auto real = find<decltype(sqlite3_errcode)>("sqlite3_errcode");
  if (!is_ours(__builtin_return_address(0))) return real(database);
  const int code = quire::faults::failed.exchange(SQLITE_OK);
  return code != SQLITE_OK ? code : real(database);
}

// As SQLite does, it gives a handle that is to be closed.
int sqlite3_open_v2(const char* path, sqlite3** database, int flags, const char* vfs) {
  static const auto real = find<decltype(sqlite3_open_v2)>("sqlite3_open_v2");
  const int code = real(path, database, flags, vfs);
  const int refused = failure(__builtin_return_address(0), Call::kSqlOpen, SQLITE_CANTOPEN);
  return refused != SQLITE_OK ? refused : code;
}

int sqlite3_prepare_v2(sqlite3* database, const char* sql, int size, sqlite3_stmt** statement,
                       const char** tail) {
  static const auto real = find<decltype(sqlite3_prepare_v2)>("sqlite3_prepare_v2");
  const int refused = failure(__builtin_return_address(0), Call::kSqlPrepare, SQLITE_NOMEM);
  return refused != SQLITE_OK ? refused : real(database, sql, size, statement, tail);
}

int sqlite3_bind_int64(sqlite3_stmt* statement, int parameter, sqlite3_int64 value) {
  static const auto real = find<decltype(sqlite3_bind_int64)>("sqlite3_bind_int64");
  const int refused = failure(__builtin_return_address(0), Call::kSqlBind, SQLITE_NOMEM);
  return refused != SQLITE_OK ? refused : real(statement, parameter, value);
}

int sqlite3_bind_blob64(sqlite3_stmt* statement, int parameter, const void* value,
                        sqlite3_uint64 size, void (*destroy)(void*)) {
  static const auto real = find<decltype(sqlite3_bind_blob64)>("sqlite3_bind_blob64");
  const int refused = failure(__builtin_return_address(0), Call::kSqlBind, SQLITE_NOMEM);
  return refused != SQLITE_OK ? refused : real(statement, parameter, value, size, destroy);
}

int sqlite3_step(sqlite3_stmt* statement) {
  static const auto real = find<decltype(sqlite3_step)>("sqlite3_step");
  const int refused = failure(__builtin_return_address(0), Call::kSqlStep, SQLITE_IOERR);
  return refused != SQLITE_OK ? refused : real(statement);
}

int sqlite3_exec(sqlite3* database, const char* sql, int (*callback)(void*, int, char**, char**),
                 void* more, char** message) {
  static const auto real = find<decltype(sqlite3_exec)>("sqlite3_exec");
  const int refused = failure(__builtin_return_address(0), Call::kSqlExec, SQLITE_FULL);
  return refused != SQLITE_OK ? refused : real(database, sql, callback, more, message);
}

int sqlite3_blob_open(sqlite3* database, const char* schema, const char* table, const char* column,
                      sqlite3_int64 row, int flags, sqlite3_blob** blob) {
  static const auto real = find<decltype(sqlite3_blob_open)>("sqlite3_blob_open");
  const int refused = failure(__builtin_return_address(0), Call::kSqlBlob, SQLITE_IOERR);
  return refused != SQLITE_OK ? refused : real(database, schema, table, column, row, flags, blob);
}

int sqlite3_blob_reopen(sqlite3_blob* blob, sqlite3_int64 row) {
  static const auto real = find<decltype(sqlite3_blob_reopen)>("sqlite3_blob_reopen");
  const int refused = failure(__builtin_return_address(0), Call::kSqlBlob, SQLITE_IOERR);
  return refused != SQLITE_OK ? refused : real(blob, row);
}

int sqlite3_blob_read(sqlite3_blob* blob, void* to, int size, int offset) {
  static const auto real = find<decltype(sqlite3_blob_read)>("sqlite3_blob_read");
  const int refused = failure(__builtin_return_address(0), Call::kSqlBlob, SQLITE_IOERR);
  return refused != SQLITE_OK ? refused : real(blob, to, size, offset);
}

}  // extern "C"
#pragma GCC visibility pop
