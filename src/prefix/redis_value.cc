// SPDX-License-Identifier: Apache-2.0
#include "prefix/redis_value.h"

#include <xxhash.h>

#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>

namespace quire {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie");

struct Header {
  std::uint32_t magic;
  std::uint32_t tokens;
  std::uint32_t pages;
  std::uint32_t zero;
  std::int64_t expires;
  std::uint64_t checksum;
};
static_assert(offsetof(Header, expires) == 16);  // kRedisExpiryAt
constexpr std::uint32_t kMagic = 0x31505551;     // "QUP1"

std::uint64_t checksum_of(std::span<const std::byte> bytes, const BlockKey& key) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), key.low);
}

}  // namespace

std::string redis_name(const BlockKey& key) {
  char text[64];
  const int size = std::snprintf(text, sizeof text, "quire:1:%016llx%016llx",
                                 static_cast<unsigned long long>(key.high),
                                 static_cast<unsigned long long>(key.low));
  return {text, static_cast<std::size_t>(size)};
}

std::size_t redis_value_size(std::size_t tokens, const BlockBytes& block) {
  std::size_t size = sizeof(Header) + tokens * sizeof(TokenId) + block.pages.size() * 8;
  for (const auto& page : block.pages) size += page.size();
  return size;
}

std::vector<std::byte> make_redis_value(std::span<const TokenId> text, const BlockBytes& block,
                                        const BlockKey& key, std::int64_t expires) {
  std::vector<std::byte> value(redis_value_size(text.size(), block));
  std::byte* to = value.data() + sizeof(Header);
  const auto put = [&to](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  };
  put(text.data(), text.size_bytes());
  for (const auto& page : block.pages) {
    const std::uint64_t size = page.size();
    put(&size, sizeof size);
  }
  for (const auto& page : block.pages) put(page.data(), page.size());
  const Header header{kMagic,
                      static_cast<std::uint32_t>(text.size()),
                      static_cast<std::uint32_t>(block.pages.size()),
                      0,
                      expires,
                      checksum_of(std::span(value).subspan(sizeof(Header)), key)};
  std::memcpy(value.data(), &header, sizeof header);
  return value;
}

std::optional<RedisValue> parse_redis_value(std::span<const std::byte> bytes, const BlockKey& key) {
  Header header;
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  bytes = bytes.subspan(sizeof header);
  const std::uint64_t fixed =
      std::uint64_t{header.tokens} * sizeof(TokenId) + std::uint64_t{header.pages} * 8;
  if (header.magic != kMagic || bytes.size() < fixed ||
      checksum_of(bytes, key) != header.checksum) {
    return std::nullopt;
  }
  RedisValue value{header.expires, TokenIds(header.tokens), {}};
  if (header.tokens > 0)
    std::memcpy(value.tokens.data(), bytes.data(), header.tokens * sizeof(TokenId));
  std::span<const std::byte> pages = bytes.subspan(fixed);
  for (std::uint32_t i = 0; i < header.pages; ++i) {
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data() + header.tokens * sizeof(TokenId) + i * 8, sizeof size);
    if (size > pages.size()) return std::nullopt;
    value.pages.push_back(pages.first(size));
    pages = pages.subspan(size);
  }
  return value;
}

std::int64_t unix_ms() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

}  // namespace quire
