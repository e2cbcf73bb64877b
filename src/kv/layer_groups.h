// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <quire/kv_cache.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "kernels/attention.h"

namespace quire {

// Layers of equal shape and window: they keep the same tokens, so their pages are one.
struct LayerGroup {
  KvLayer shape;
  std::int64_t layers = 0;
};

// The groups of a model, in order of their first layers.
struct LayerGroups {
  struct Place {
    std::size_t group;
    std::int64_t index;  // among the group's layers
  };
  std::vector<LayerGroup> groups;
  std::vector<Place> places;  // of every layer
};

// Throws Error kInvalidArgument, naming `subject`, for a spec that no model has.
LayerGroups group_layers(const KvSpec& spec, std::string_view subject);

inline KvShape page_shape(const LayerGroup& group, std::int64_t page_tokens) {
  return {group.shape.kv_heads, group.shape.head_dim, page_tokens};
}

KvEncoding encoding_of(DType dtype);

// Bytes of one page of a group.
std::int64_t page_bytes(const LayerGroup& group, std::int64_t page_tokens, KvEncoding encoding);

inline std::int64_t pages_for(std::int64_t tokens, std::int64_t page_tokens) {
  return (tokens + page_tokens - 1) / page_tokens;
}

// The first position that a token at `position` attends to.
inline std::int64_t first_seen(std::int64_t position, std::int64_t window) {
  return window > 0 && position >= window ? position - window + 1 : 0;
}

// The first page of `length` tokens that the next token sees; pages_for(length) if it sees none,
// as with a window of 1.
inline std::int64_t first_seen_page(std::int64_t length, std::int64_t window,
                                    std::int64_t page_tokens) {
  const std::int64_t seen = first_seen(length, window);
  return seen < length ? seen / page_tokens : pages_for(length, page_tokens);
}

// The first page that a group with this window keeps at `length` tokens: what the next token sees,
// and one page more, so that the last page's worth of tokens can always be dropped.
inline std::int64_t first_kept_page(std::int64_t length, std::int64_t window,
                                    std::int64_t page_tokens) {
  if (length < page_tokens) return 0;
  return first_seen(length - page_tokens, window) / page_tokens;
}

}  // namespace quire
