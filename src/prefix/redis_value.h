// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/page_tier.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace quire {

// A block as a value in Redis, little-endian:
//   magic, tokens, pages (uint32 each), 4 bytes 0; expiry (int64, unix ms, 0: never);
//   checksum (uint64, XXH3-64 of what follows, seeded with the block's key);
//   the text's tokens up to the block's end; each page's size (uint64); the pages.
struct RedisValue {
  std::int64_t expires;
  TokenIds tokens;
  std::vector<std::span<const std::byte>> pages;  // of the bytes that were parsed
};

// Where a value has its expiry, which may be replaced alone: nothing else depends on it.
inline constexpr std::string_view kRedisExpiryAt = "16";

// The name that a block has in Redis.
std::string redis_name(const BlockKey& key);

std::size_t redis_value_size(std::size_t tokens, const BlockBytes& block);
std::vector<std::byte> make_redis_value(std::span<const TokenId> text, const BlockBytes& block,
                                        const BlockKey& key, std::int64_t expires);

// Nothing if the bytes are not what was made for this key.
std::optional<RedisValue> parse_redis_value(std::span<const std::byte> bytes, const BlockKey& key);

std::int64_t unix_ms();

}  // namespace quire
