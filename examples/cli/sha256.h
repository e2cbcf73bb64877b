// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

namespace cli {

// SHA-256 as FIPS 180-4 defines it.
class Sha256 {
 public:
  void add(std::span<const unsigned char> bytes);

  // Lower case hex. Nothing may be added afterwards.
  std::string finish();

 private:
  void add_block(const unsigned char* block);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> open_ = {};  // the block not yet full
  std::size_t open_size_ = 0;
  std::uint64_t size_ = 0;
};

// Throws quire::Error kNotFound, kIo.
std::string sha256_of_file(const std::filesystem::path& path);

}  // namespace cli
