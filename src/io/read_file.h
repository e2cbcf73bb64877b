// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace quire {

// The bytes of a whole file. For small files that are kept or parsed at once; weights are mapped.
// Throws Error kNotFound, kIo, kOutOfMemory; kCorrupt when it has more than `most` bytes.
std::string read_file(const std::filesystem::path& path, std::uint64_t most = UINT64_MAX);

}  // namespace quire
