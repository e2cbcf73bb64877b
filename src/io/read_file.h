// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace quire {

// The bytes of a whole file. For small files that are kept or parsed at once; weights are mapped.
// Throws Error kNotFound, kIo, kOutOfMemory.
std::string read_file(const std::filesystem::path& path);

}  // namespace quire
