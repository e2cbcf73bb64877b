// SPDX-License-Identifier: Apache-2.0
#include <quire/prefix_index.h>
#include <xxhash.h>

#include <array>
#include <cstring>

namespace quire {

BlockKey block_key(const BlockKey& parent, const BlockKey& space, std::span<const TokenId> tokens) {
  // One contiguous buffer for the usual block sizes; hashing it at once beats the streaming API.
  constexpr std::size_t kInline = 64;
  const auto hash = [](const void* data, std::size_t bytes) {
    const XXH128_hash_t h = XXH3_128bits(data, bytes);
    return BlockKey{h.low64, h.high64};
  };
  if (tokens.size() <= kInline) {
    std::array<std::byte, 2 * sizeof(BlockKey) + kInline * sizeof(TokenId)> buffer;
    std::memcpy(buffer.data(), &parent, sizeof(BlockKey));
    std::memcpy(buffer.data() + sizeof(BlockKey), &space, sizeof(BlockKey));
    std::memcpy(buffer.data() + 2 * sizeof(BlockKey), tokens.data(), tokens.size_bytes());
    return hash(buffer.data(), 2 * sizeof(BlockKey) + tokens.size_bytes());
  }
  std::vector<std::byte> buffer(2 * sizeof(BlockKey) + tokens.size_bytes());
  std::memcpy(buffer.data(), &parent, sizeof(BlockKey));
  std::memcpy(buffer.data() + sizeof(BlockKey), &space, sizeof(BlockKey));
  std::memcpy(buffer.data() + 2 * sizeof(BlockKey), tokens.data(), tokens.size_bytes());
  return hash(buffer.data(), buffer.size());
}

}  // namespace quire
