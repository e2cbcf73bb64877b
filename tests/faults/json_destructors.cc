// SPDX-License-Identifier: Apache-2.0
#include "tests/faults/json_destructors.h"

#include <elf.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

extern "C" const char __executable_start;

namespace quire::faults {
namespace {

// What of the program's functions takes JSON apart, by the addresses of its code. Allocates
// nothing: operator new asks.
class Destructors {
 public:
  Destructors() {
    const int fd = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    struct stat status {};
    ::fstat(fd, &status);
    const void* file =
        ::mmap(nullptr, static_cast<std::size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
    ::close(fd);
    read(static_cast<const char*>(file));
  }

  bool hold(std::uintptr_t address) const {
    return std::ranges::any_of(std::span(ranges_).first(count_), [&](const Range& range) {
      return address >= range.begin && address < range.end;
    });
  }

 private:
  struct Range {
    std::uintptr_t begin, end;
  };

  static bool takes_apart(std::string_view name) {
    return name.find("10basic_jsonI") != name.npos &&
           (name.find("7destroyE") != name.npos || name.find("D1Ev") != name.npos ||
            name.find("D2Ev") != name.npos);
  }

  void read(const char* file) {
    const auto& header = *reinterpret_cast<const ElfW(Ehdr)*>(file);
    const auto base =
        header.e_type == ET_DYN ? reinterpret_cast<std::uintptr_t>(&__executable_start) : 0;
    const std::span sections(reinterpret_cast<const ElfW(Shdr)*>(file + header.e_shoff),
                             header.e_shnum);
    for (const ElfW(Shdr) & section : sections) {
      if (section.sh_type != SHT_SYMTAB) continue;
      const char* names = file + sections[section.sh_link].sh_offset;
      const std::span symbols(reinterpret_cast<const ElfW(Sym)*>(file + section.sh_offset),
                              section.sh_size / sizeof(ElfW(Sym)));
      for (const ElfW(Sym) & symbol : symbols) {
        if (count_ == std::size(ranges_) || !takes_apart(names + symbol.st_name)) continue;
        ranges_[count_++] = {base + symbol.st_value, base + symbol.st_value + symbol.st_size};
      }
    }
  }

  Range ranges_[1000];
  std::size_t count_ = 0;
};

}  // namespace

bool in_json_destructor() {
  static const Destructors destructors;
  void* frames[12];
  const int count = ::backtrace(frames, static_cast<int>(std::size(frames)));
  return std::any_of(frames, frames + count, [&](const void* frame) {
    return destructors.hold(reinterpret_cast<std::uintptr_t>(frame));
  });
}

}  // namespace quire::faults
