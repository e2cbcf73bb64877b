// SPDX-License-Identifier: Apache-2.0
// Faults on demand. The program that links interpose.cc, interpose_sqlite.cc and
// interpose_sockets.cc has its own versions of a few functions of the C library and of SQLite and
// of operator new; while a Fault is alive, one call of its kind fails as the system would make it
// fail.
#pragma once

namespace quire::faults {

enum class Call {
  kOpen,    // open: EMFILE
  kRead,    // read, pread: EIO
  kWrite,   // write, pwrite: ENOSPC
  kSync,    // fsync, fdatasync: EIO
  kRename,  // rename: EACCES
  kMap,     // mmap of files: ENOMEM
  kMemory,  // operator new, by code of this program: std::bad_alloc
  // SQLite's functions, called by the library.
  kSqlOpen,     // sqlite3_open_v2: SQLITE_CANTOPEN
  kSqlPrepare,  // sqlite3_prepare_v2: SQLITE_NOMEM
  kSqlBind,     // sqlite3_bind_int64, sqlite3_bind_blob64: SQLITE_NOMEM
  kSqlStep,     // sqlite3_step: SQLITE_IOERR
  kSqlExec,     // sqlite3_exec: SQLITE_FULL
  kSqlBlob,     // sqlite3_blob_open, sqlite3_blob_reopen, sqlite3_blob_read: SQLITE_IOERR
  // What goes over the lines to a Redis.
  kConnect,  // connect: ECONNREFUSED
  kSend,     // send: ECONNRESET
  kReceive,  // recv: ECONNRESET
  kEnd,      // recv: the end of the stream
  kPoll,     // poll: ENOMEM
};

constexpr Call kFileCalls[] = {Call::kOpen, Call::kRead,   Call::kWrite,
                               Call::kSync, Call::kRename, Call::kMap};
constexpr Call kMemoryCalls[] = {Call::kMemory};
constexpr Call kSqlCalls[] = {Call::kSqlOpen, Call::kSqlPrepare, Call::kSqlBind,
                              Call::kSqlStep, Call::kSqlExec,    Call::kSqlBlob};
constexpr Call kSocketCalls[] = {Call::kConnect, Call::kSend, Call::kReceive, Call::kEnd,
                                 Call::kPoll};

const char* name_of(Call call);

// Lets the n-th call (from 1 on) of its kind fail, in whichever thread; only one Fault at a time.
class Fault {
 public:
  Fault(Call call, int n);
  ~Fault();
  Fault(const Fault&) = delete;
  Fault& operator=(const Fault&) = delete;

  bool struck() const;  // whether there were n calls
};

// For the functions' own versions: whether this call is to fail.
bool fails(Call call);

// Whether code of this program, which holds the library's objects, calls.
bool is_ours(const void* caller);

}  // namespace quire::faults
