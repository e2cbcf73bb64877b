// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace quire {

// A part of a file with the padding that follows it, and the checksum that it must have.
struct FileSection {
  std::span<const std::byte> bytes;
  std::uint64_t checksum = 0;
  std::int64_t position = 0;  // of a page's first token

  // Throws Error kCorrupt, naming the file and the section.
  void verify(std::string_view file, std::string_view what) const;
};

// XXH3-64.
std::uint64_t checksum_of(std::span<const std::byte> bytes);

}  // namespace quire
