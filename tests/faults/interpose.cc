// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/interpose.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "tests/faults/json_destructors.h"

// Where the program's code lies, from the linker.
extern "C" const char __executable_start;
extern "C" const char etext;

namespace quire::faults {
namespace {

std::atomic<int> armed{-1};  // the kind of call; -1: none
std::atomic<int> left{0};    // calls up to and including the one that fails

template <typename Result>
Result failure(int error, Result result) {
  errno = error;
  return result;
}

int open_file(int folder, const char* path, int flags, va_list more) {
  const mode_t mode = (flags & (O_CREAT | O_TMPFILE)) != 0 ? va_arg(more, mode_t) : 0;
  if (fails(Call::kOpen)) return failure(EMFILE, -1);
  return static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}

void* map(void* address, std::size_t size, int access, int flags, int fd, off_t offset) {
  if (fd >= 0 && fails(Call::kMap)) return failure(ENOMEM, MAP_FAILED);
  return reinterpret_cast<void*>(::syscall(SYS_mmap, address, size, access, flags, fd, offset));
}

// Libtorch ends the process where it finds no memory for small things, and so do the JSON library's
// destructors.
void* allocate(std::size_t size, std::size_t alignment, const void* caller) {
  if (armed.load(std::memory_order_relaxed) == static_cast<int>(Call::kMemory) && is_ours(caller)) {
    const bool spared = left.load(std::memory_order_relaxed) == 1 && in_json_destructor();
    if (!spared && fails(Call::kMemory)) throw std::bad_alloc();
  }
  void* memory = alignment == 0
                     ? std::malloc(size == 0 ? 1 : size)
                     : std::aligned_alloc(alignment, (size + alignment) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

const char* name_of(Call call) {
  constexpr const char* kNames[] = {"open",     "read",     "write",    "sync",        "rename",
                                    "map",      "memory",   "sql_open", "sql_prepare", "sql_bind",
                                    "sql_step", "sql_exec", "sql_blob", "connect",     "send",
                                    "receive",  "end",      "poll"};
  return kNames[static_cast<int>(call)];
}

Fault::Fault(Call call, int n) {
  left.store(n);
  armed.store(static_cast<int>(call));
}

Fault::~Fault() { armed.store(-1); }

bool Fault::struck() const { return left.load() <= 0; }

bool fails(Call call) {
  return armed.load(std::memory_order_relaxed) == static_cast<int>(call) &&
         left.fetch_sub(1, std::memory_order_relaxed) == 1;
}

bool is_ours(const void* caller) {
  const auto address = reinterpret_cast<std::uintptr_t>(caller);
  return address >= reinterpret_cast<std::uintptr_t>(&__executable_start) &&
         address < reinterpret_cast<std::uintptr_t>(&etext);
}

}  // namespace quire::faults

using quire::faults::allocate;
using quire::faults::Call;
using quire::faults::fails;
using quire::faults::failure;

// The C library's own, for every caller in the process.
#pragma GCC visibility push(default)
extern "C" {

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int fd = quire::faults::open_file(AT_FDCWD, path, flags, more);
  va_end(more);
  return fd;
}

int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int fd = quire::faults::open_file(AT_FDCWD, path, flags, more);
  va_end(more);
  return fd;
}

ssize_t read(int fd, void* to, size_t size) {
  if (fails(Call::kRead)) return failure(EIO, ssize_t{-1});
  return ::syscall(SYS_read, fd, to, size);
}

ssize_t pread(int fd, void* to, size_t size, off_t offset) {
  if (fails(Call::kRead)) return failure(EIO, ssize_t{-1});
  return ::syscall(SYS_pread64, fd, to, size, offset);
}

ssize_t pread64(int fd, void* to, size_t size, off_t offset) { return pread(fd, to, size, offset); }

ssize_t write(int fd, const void* from, size_t size) {
  if (fails(Call::kWrite)) return failure(ENOSPC, ssize_t{-1});
  return ::syscall(SYS_write, fd, from, size);
}

ssize_t pwrite(int fd, const void* from, size_t size, off_t offset) {
  if (fails(Call::kWrite)) return failure(ENOSPC, ssize_t{-1});
  return ::syscall(SYS_pwrite64, fd, from, size, offset);
}

ssize_t pwrite64(int fd, const void* from, size_t size, off_t offset) {
  return pwrite(fd, from, size, offset);
}

// Nothing here is to outlive the machine.
int fsync(int) { return fails(Call::kSync) ? failure(EIO, -1) : 0; }
int fdatasync(int) { return fails(Call::kSync) ? failure(EIO, -1) : 0; }

int rename(const char* from, const char* to) {
  if (fails(Call::kRename)) return failure(EACCES, -1);
  return static_cast<int>(::syscall(SYS_renameat, AT_FDCWD, from, AT_FDCWD, to));
}

void* mmap(void* address, size_t size, int access, int flags, int fd, off_t offset) {
  return quire::faults::map(address, size, access, flags, fd, offset);
}

void* mmap64(void* address, size_t size, int access, int flags, int fd, off_t offset) {
  return quire::faults::map(address, size, access, flags, fd, offset);
}

}  // extern "C"
#pragma GCC visibility pop

void* operator new(std::size_t size) { return allocate(size, 0, __builtin_return_address(0)); }
void* operator new[](std::size_t size) { return allocate(size, 0, __builtin_return_address(0)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void* operator new[](std::size_t size, std::align_val_t alignment) {
  return allocate(size, static_cast<std::size_t>(alignment), __builtin_return_address(0));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
