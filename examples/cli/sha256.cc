// SPDX-License-Identifier: Apache-2.0
#include "sha256.h"

#include <quire/error.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <fstream>
#include <vector>

namespace cli {
namespace {

constexpr std::array<std::uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian(const unsigned char* p) {
  return std::uint32_t{p[0]} << 24 | std::uint32_t{p[1]} << 16 | std::uint32_t{p[2]} << 8 |
         std::uint32_t{p[3]};
}

}  // namespace

void Sha256::add_block(const unsigned char* block) {
  std::array<std::uint32_t, 64> w;
  for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t a = w[i - 15];
    const std::uint32_t b = w[i - 2];
    w[i] = w[i - 16] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ a >> 3) + w[i - 7] +
           (std::rotr(b, 17) ^ std::rotr(b, 19) ^ b >> 10);
  }
  auto s = state_;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t sum1 = std::rotr(s[4], 6) ^ std::rotr(s[4], 11) ^ std::rotr(s[4], 25);
    const std::uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
    const std::uint32_t t1 = s[7] + sum1 + choice + kRound[i] + w[i];
    const std::uint32_t sum0 = std::rotr(s[0], 2) ^ std::rotr(s[0], 13) ^ std::rotr(s[0], 22);
    const std::uint32_t majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
    std::rotate(s.begin(), s.end() - 1, s.end());
    s[4] += t1;
    s[0] = t1 + sum0 + majority;
  }
  for (std::size_t i = 0; i < 8; ++i) state_[i] += s[i];
}

void Sha256::add(std::span<const unsigned char> bytes) {
  size_ += bytes.size();
  while (!bytes.empty()) {
    if (open_size_ == 0 && bytes.size() >= 64) {
      add_block(bytes.data());
      bytes = bytes.subspan(64);
      continue;
    }
    const std::size_t n = std::min(bytes.size(), 64 - open_size_);
    std::memcpy(open_.data() + open_size_, bytes.data(), n);
    bytes = bytes.subspan(n);
    open_size_ = (open_size_ + n) % 64;
    if (open_size_ == 0) add_block(open_.data());
  }
}

std::string Sha256::finish() {
  const std::uint64_t bits = size_ * 8;
  const std::size_t zeros = (open_size_ < 56 ? 56 : 120) - open_size_ - 1;
  std::vector<unsigned char> tail(1 + zeros + 8);
  tail[0] = 0x80;
  for (std::size_t i = 0; i < 8; ++i) {
    tail[tail.size() - 1 - i] = static_cast<unsigned char>(bits >> (8 * i));
  }
  add(tail);
  std::string hex;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) hex += "0123456789abcdef"[word >> shift & 15];
  }
  return hex;
}

std::string sha256_of_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw quire::Error(quire::ErrorCode::kNotFound, path.string(), "cannot be opened");
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (file) {
    file.read(buffer.data(), std::ssize(buffer));
    hash.add({reinterpret_cast<const unsigned char*>(buffer.data()),
              static_cast<std::size_t>(file.gcount())});
  }
  if (file.bad()) throw quire::Error(quire::ErrorCode::kIo, path.string(), "cannot be read");
  return hash.finish();
}

}  // namespace cli
