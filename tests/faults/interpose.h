// SPDX-License-Identifier: Apache-2.0
// Faults on demand. The program that links interpose.cc has its own versions of a few functions of
// the C library and of operator new, which every library in the process calls; while a Fault is
// alive, one call of its kind fails as the system would make it fail.
#pragma once

namespace quire::faults {

enum class Call {
  kOpen,    // open: EMFILE
  kRead,    // read, pread: EIO
  kWrite,   // write, pwrite: ENOSPC
  kSync,    // fsync, fdatasync: EIO
  kRename,  // rename: EACCES
  kMap,     // mmap of files: ENOMEM
  kMemory,  // operator new: std::bad_alloc
};

constexpr Call kCalls[] = {Call::kOpen,   Call::kRead, Call::kWrite, Call::kSync,
                           Call::kRename, Call::kMap,  Call::kMemory};

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

}  // namespace quire::faults
