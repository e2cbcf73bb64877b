// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <memory>
#include <utility>

#include "kernels/attention_kernels.h"
#include "kernels/thread_pool.h"

namespace quire {
namespace {

// Rows of queries that share what a chunk's pages cost to read; their scores fit the second-level
// cache.
constexpr std::int64_t kTileRows = 48;

// Up to this many rows are one tile whose chunks are shared out, or there would be too little to do
// in parallel; their states are kept and merged in the end.
constexpr std::int64_t kFewRows = 2 * kTileRows;

using Floats = std::unique_ptr<float[]>;

Floats floats(std::int64_t count) {
  return std::make_unique_for_overwrite<float[]>(static_cast<std::size_t>(count));
}

std::int64_t state_floats(std::int64_t rows, std::int64_t head_dim) {
  return rows * (2 + padded(head_dim));
}

AttentionState state_at(float* memory, std::int64_t rows) {
  return {memory, memory + rows, memory + 2 * rows};
}

void clear(const AttentionState& state, std::int64_t rows, std::int64_t head_dim) {
  std::fill_n(state.max, rows, -std::numeric_limits<float>::infinity());
  std::fill_n(state.sum, rows, 0.0F);
  std::fill_n(state.values, rows * padded(head_dim), 0.0F);
}

// Memory of one thread for tiles of up to `tokens` tokens.
class Workspace {
 public:
  Workspace(const KvAttention& attention, std::int64_t tokens) {
    const std::int64_t rows = tokens * (attention.heads / attention.shape.kv_heads);
    const std::int64_t d = attention.shape.head_dim;
    const std::int64_t p = attention.shape.page_tokens;
    const std::int64_t side = std::max(padded(d), padded(p));
    memory_ = floats(rows * (d + kScoreStride + std::max(d, p)) + 2 * side + side * side);
    float* next = memory_.get();
    const auto take = [&next](std::int64_t count) { return std::exchange(next, next + count); };
    tile_.attention = &attention;
    tile_.q = take(rows * d);
    tile_.scores = take(rows * kScoreStride);
    tile_.folded = take(rows * std::max(d, p));
    tile_.scales = take(2 * side);
    tile_.expanded = take(side * side);
  }

  AttentionTile tile(std::int64_t kv_head, std::int64_t first_token, std::int64_t tokens) const {
    AttentionTile tile = tile_;
    tile.kv_head = kv_head;
    tile.first_token = first_token;
    tile.tokens = tokens;
    return tile;
  }

 private:
  Floats memory_;
  AttentionTile tile_{};
};

// The chunks [first, last) that queries see.
struct Chunks {
  std::int64_t first;
  std::int64_t last;
};
Chunks chunks_of(const KvAttention& attention, std::int64_t first_token, std::int64_t tokens) {
  const std::int64_t position = attention.position + first_token;
  const std::int64_t low =
      attention.window > 0 ? std::max<std::int64_t>(0, position - attention.window + 1) : 0;
  return {low / kAttentionChunk, (position + tokens - 1) / kAttentionChunk + 1};
}

// Each item is a tile with all of its chunks in order.
void attend_by_tiles(const KvAttention& attention, const AttentionKernels& kernels,
                     ThreadPool* threads) {
  const std::int64_t group = attention.heads / attention.shape.kv_heads;
  const std::int64_t d = attention.shape.head_dim;
  const std::int64_t tile_tokens = std::max<std::int64_t>(1, kTileRows / group);
  const std::int64_t tiles = (attention.tokens + tile_tokens - 1) / tile_tokens;
  const std::int64_t rows = tile_tokens * group;
  std::atomic<std::int64_t> next{0};
  run_on(threads, [&](int, int) {
    const Workspace workspace(attention, tile_tokens);
    const Floats memory = floats(2 * state_floats(rows, d));
    const AttentionState all = state_at(memory.get(), rows);
    const AttentionState one = state_at(memory.get() + state_floats(rows, d), rows);
    for (std::int64_t item = next++; item < tiles * attention.shape.kv_heads; item = next++) {
      const std::int64_t first = item % tiles * tile_tokens;
      const AttentionTile tile =
          workspace.tile(item / tiles, first, std::min(tile_tokens, attention.tokens - first));
      kernels.gather_queries(tile);
      clear(all, tile.rows(), d);
      const Chunks chunks = chunks_of(attention, tile.first_token, tile.tokens);
      for (std::int64_t chunk = chunks.first; chunk < chunks.last; ++chunk) {
        kernels.attend_chunk(tile, chunk, one);
        kernels.merge(tile.rows(), d, one, all);
      }
      kernels.write_output(tile, all);
    }
  });
}

// Each item is one chunk for all queries of a kv head.
void attend_by_chunks(const KvAttention& attention, const AttentionKernels& kernels,
                      ThreadPool* threads) {
  const std::int64_t d = attention.shape.head_dim;
  const std::int64_t kv_heads = attention.shape.kv_heads;
  const std::int64_t rows = attention.tokens * (attention.heads / kv_heads);
  const std::int64_t size = state_floats(rows, d);
  const Chunks chunks = chunks_of(attention, 0, attention.tokens);
  const std::int64_t count = chunks.last - chunks.first;
  const Floats states = floats((count * kv_heads + 1) * size);
  const auto state = [&](std::int64_t head, std::int64_t chunk) {
    return state_at(states.get() + (head * count + chunk) * size, rows);
  };
  std::atomic<std::int64_t> next{0};
  run_on(threads, [&](int, int) {
    const Workspace workspace(attention, attention.tokens);
    for (std::int64_t item = next++; item < count * kv_heads; item = next++) {
      const AttentionTile tile = workspace.tile(item / count, 0, attention.tokens);
      kernels.gather_queries(tile);
      kernels.attend_chunk(tile, chunks.first + item % count, state(tile.kv_head, item % count));
    }
  });
  const AttentionState all = state_at(states.get() + count * kv_heads * size, rows);
  for (std::int64_t head = 0; head < kv_heads; ++head) {
    clear(all, rows, d);
    for (std::int64_t chunk = 0; chunk < count; ++chunk) {
      kernels.merge(rows, d, state(head, chunk), all);
    }
    AttentionTile tile{};
    tile.attention = &attention;
    tile.kv_head = head;
    tile.tokens = attention.tokens;
    kernels.write_output(tile, all);
  }
}

}  // namespace

void attend_to_pages(const KvAttention& attention, ThreadPool* threads) {
  if (attention.tokens == 0) return;
  const AttentionKernels& kernels = attention_kernels(active_isa());
  if (attention.tokens * (attention.heads / attention.shape.kv_heads) <= kFewRows) {
    attend_by_chunks(attention, kernels, threads);
  } else {
    attend_by_tiles(attention, kernels, threads);
  }
}

}  // namespace quire
