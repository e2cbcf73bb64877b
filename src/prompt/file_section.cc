// SPDX-License-Identifier: Apache-2.0
#include "prompt/file_section.h"

#include <quire/error.h>
#include <xxhash.h>

namespace quire {

std::uint64_t checksum_of(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}

void FileSection::verify(std::string_view file, std::string_view what) const {
  const std::uint64_t found = checksum_of(bytes);
  if (found == checksum) return;
  throw Error(ErrorCode::kCorrupt, file,
              "expected " + std::string(what) + " with the checksum " + std::to_string(checksum) +
                  ", found " + std::to_string(found));
}

}  // namespace quire
