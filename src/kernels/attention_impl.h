// SPDX-License-Identifier: Apache-2.0
// Attention of a few queries over one chunk of pages, included by attention_<isa>.cc after
// simd_<isa>.h, simd.h and simd_math.h.
//
// Scores (queries times transposed keys) and weighted values (probabilities times values) are the
// same product c += a b with rows of a page as b. A chunk takes two passes: all scores, then their
// exponentials and all values. All query heads of a kv head are rows of a, so they share each load.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/attention_kernels.h"
#include "kernels/attention_product.h"

namespace quire {
namespace {

// The part of a chunk that a tile sees: tokens [first, last) from the chunk's start.
struct Range {
  std::int64_t first;
  std::int64_t last;
};

inline Range visible(const KvAttention& attention, std::int64_t position, std::int64_t chunk) {
  const std::int64_t start = chunk * kAttentionChunk;
  std::int64_t first = attention.window > 0 ? position - attention.window + 1 - start : -start;
  std::int64_t last = position + 1 - start;
  if (first < 0) first = 0;
  if (last > kAttentionChunk) last = kAttentionChunk;
  return {first, last};
}

// How many pages ahead memory is fetched.
constexpr std::int64_t kPagesAhead = 2;

inline std::int64_t address(const std::byte* p) { return reinterpret_cast<std::intptr_t>(p); }

// Bytes from a kv head's keys to its values.
inline std::int64_t keys_to_values(const KvShape& shape, KvEncoding encoding) {
  const std::int64_t numbers = shape.kv_heads * shape.head_dim * shape.page_tokens;
  switch (encoding) {
    case KvEncoding::kF32:
      return 4 * numbers;
    case KvEncoding::kBF16:
    case KvEncoding::kF16:
      return 2 * numbers;
    case KvEncoding::kCodes8:
      return code_layout(shape, 8).values;
    case KvEncoding::kCodes4:
      return code_layout(shape, 4).values;
    case KvEncoding::kCodes2:
      break;
  }
  return code_layout(shape, 2).values;
}

// What the page functions work on: one page of a chunk, for one kv head.
struct PageWork {
  const AttentionTile* tile;
  const std::byte* head;  // coded: the kv head's codes; else the kv head's keys or values
  std::int64_t column;    // of the page's first token in the rows of scores
  std::int64_t tokens;    // of the page that may be read
  std::int64_t ahead;     // bytes from what is read here to what will be read soon
};

template <typename Rows, typename T>
inline void score_numbers(const PageWork& work) {
  const AttentionTile& tile = *work.tile;
  const KvShape& shape = tile.attention->shape;
  const Rows keys{reinterpret_cast<const T*>(work.head), shape.page_tokens, work.ahead};
  const Product product{tile.q,      shape.head_dim, tile.scores + work.column, kScoreStride,
                        tile.rows(), shape.head_dim, shape.page_tokens};
  multiply(product, keys, tile.expanded);
}

template <typename Rows, typename T>
inline void weigh_numbers(const PageWork& work, float* values) {
  const AttentionTile& tile = *work.tile;
  const KvShape& shape = tile.attention->shape;
  const Rows rows{reinterpret_cast<const T*>(work.head), shape.head_dim, work.ahead};
  const Product product{tile.scores + work.column,
                        kScoreStride,
                        values,
                        padded(shape.head_dim),
                        tile.rows(),
                        work.tokens,
                        shape.head_dim};
  multiply(product, rows, tile.expanded);
}

inline float half_at(const std::byte* halves, std::int64_t i) {
  std::uint16_t some[kLanes] = {};
  std::memcpy(some, halves + 2 * i, sizeof(std::uint16_t));
  return load_f16(some)[0];
}

// to[0, n) = halves as floats; both have room for whole vectors.
inline void widen(const std::byte* halves, std::int64_t n, float* to) {
  std::int64_t i = 0;
  const auto* from = reinterpret_cast<const std::uint16_t*>(halves);
  for (; i + kLanes <= n; i += kLanes) store(to + i, load_f16(from + i));
  for (; i < n; ++i) to[i] = half_at(halves, i);
}

// folded[i] = x[i] scales[i]; returns Σ x[i] zeros[i].
inline float fold(const float* x, const float* scales, const float* zeros, std::int64_t n,
                  float* folded) {
  Vec sums{};
  std::int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const Vec v = load(x + i);
    store(folded + i, v * load(scales + i));
    sums = fma(v, load(zeros + i), sums);
  }
  float sum = sum_lanes(sums);
  for (; i < n; ++i) {
    folded[i] = x[i] * scales[i];
    sum += x[i] * zeros[i];
  }
  return sum;
}

template <int kBits>
inline void score_codes(const PageWork& work) {
  const AttentionTile& tile = *work.tile;
  const KvShape& shape = tile.attention->shape;
  const CodeLayout layout = code_layout(shape, kBits);
  float* scales = tile.scales;
  float* zeros = tile.scales + padded(shape.head_dim);
  widen(work.head + layout.key_scales, shape.head_dim, scales);
  widen(work.head + layout.key_zeros, shape.head_dim, zeros);
  for (std::int64_t r = 0; r < tile.rows(); ++r) {
    const float zero = fold(tile.q + r * shape.head_dim, scales, zeros, shape.head_dim,
                            tile.folded + r * shape.head_dim);
    float* scores = tile.scores + r * kScoreStride + work.column;
    for (std::int64_t i = 0; i < shape.page_tokens; i += kLanes) store(scores + i, broadcast(zero));
  }
  const CodeRows<kBits> keys{reinterpret_cast<const std::uint8_t*>(work.head),
                             shape.page_tokens * kBits / 8, work.ahead};
  const Product product{tile.folded, shape.head_dim, tile.scores + work.column, kScoreStride,
                        tile.rows(), shape.head_dim, shape.page_tokens};
  multiply(product, keys, tile.expanded);
}

template <int kBits>
inline void weigh_codes(const PageWork& work, float* values) {
  const AttentionTile& tile = *work.tile;
  const KvShape& shape = tile.attention->shape;
  const CodeLayout layout = code_layout(shape, kBits);
  const std::int64_t p = shape.page_tokens;
  const std::int64_t width = padded(shape.head_dim);
  float* scales = tile.scales;
  float* zeros = tile.scales + padded(p);
  for (std::int64_t g = 0; g < layout.value_groups; ++g) {
    const std::int64_t columns = width - g * p < p ? width - g * p : p;
    widen(work.head + layout.value_scales + 2 * g * p, p, scales);
    widen(work.head + layout.value_zeros + 2 * g * p, p, zeros);
    for (std::int64_t r = 0; r < tile.rows(); ++r) {
      const float zero =
          fold(tile.scores + r * kScoreStride + work.column, scales, zeros, p, tile.folded + r * p);
      float* sums = values + r * width + g * p;
      for (std::int64_t i = 0; i < columns; i += kLanes) {
        store(sums + i, load(sums + i) + broadcast(zero));
      }
    }
    const CodeRows<kBits> rows{
        reinterpret_cast<const std::uint8_t*>(work.head + layout.values) + g * p * kBits / 8,
        width * kBits / 8, work.ahead};
    const Product product{tile.folded, p, values + g * p, width, tile.rows(), p, columns};
    multiply(product, rows, tile.expanded);
  }
}

inline void clear_scores(const PageWork& work) {
  const std::int64_t tokens = work.tile->attention->shape.page_tokens;
  for (std::int64_t r = 0; r < work.tile->rows(); ++r) {
    float* scores = work.tile->scores + r * kScoreStride + work.column;
    for (std::int64_t i = 0; i < tokens; i += kLanes) store(scores + i, Vec{});
  }
}

inline void score_page(PageWork work, const KvPage& page) {
  const KvShape& shape = work.tile->attention->shape;
  const std::int64_t head = work.tile->kv_head;
  const std::int64_t numbers = shape.head_dim * shape.page_tokens;
  switch (page.encoding) {
    case KvEncoding::kF32:
      work.head = page.data + head * numbers * 4;
      clear_scores(work);
      return score_numbers<F32Rows, float>(work);
    case KvEncoding::kBF16:
      work.head = page.data + head * numbers * 2;
      clear_scores(work);
      return score_numbers<Bf16Rows, std::uint16_t>(work);
    case KvEncoding::kF16:
      work.head = page.data + head * numbers * 2;
      clear_scores(work);
      return score_numbers<F16Rows, std::uint16_t>(work);
    case KvEncoding::kCodes8:
      work.head = page.data + head * code_layout(shape, 8).bytes;
      return score_codes<8>(work);
    case KvEncoding::kCodes4:
      work.head = page.data + head * code_layout(shape, 4).bytes;
      return score_codes<4>(work);
    case KvEncoding::kCodes2:
      work.head = page.data + head * code_layout(shape, 2).bytes;
      return score_codes<2>(work);
  }
}

inline void weigh_page(PageWork work, const KvPage& page, float* values) {
  const KvShape& shape = work.tile->attention->shape;
  const std::int64_t head = work.tile->kv_head;
  const std::int64_t numbers = shape.head_dim * shape.page_tokens;
  const std::int64_t before = (shape.kv_heads + head) * numbers;
  switch (page.encoding) {
    case KvEncoding::kF32:
      work.head = page.data + before * 4;
      return weigh_numbers<F32Rows, float>(work, values);
    case KvEncoding::kBF16:
      work.head = page.data + before * 2;
      return weigh_numbers<Bf16Rows, std::uint16_t>(work, values);
    case KvEncoding::kF16:
      work.head = page.data + before * 2;
      return weigh_numbers<F16Rows, std::uint16_t>(work, values);
    case KvEncoding::kCodes8:
      work.head = page.data + head * code_layout(shape, 8).bytes;
      return weigh_codes<8>(work, values);
    case KvEncoding::kCodes4:
      work.head = page.data + head * code_layout(shape, 4).bytes;
      return weigh_codes<4>(work, values);
    case KvEncoding::kCodes2:
      work.head = page.data + head * code_layout(shape, 2).bytes;
      return weigh_codes<2>(work, values);
  }
}
inline float max_lanes(Vec v) {
  float max = v[0];
  for (int i = 1; i < kLanes; ++i) max = v[i] > max ? v[i] : max;
  return max;
}

inline Vec lane_index() {
  Vec v{};
  for (int i = 0; i < kLanes; ++i) v[i] = static_cast<float>(i);
  return v;
}

// Turns a row's scores in `row` into exp(score - max), 0 outside of `range`, within the columns
// [seen.first, seen.last), both whole pages.
inline void soften(float* scores, Range range, Range seen, float softcap, float* max, float* sum) {
  if (range.first >= range.last) range = {seen.first, seen.first};
  const std::int64_t first = range.first / kLanes * kLanes;
  const std::int64_t last = (range.last + kLanes - 1) / kLanes * kLanes;
  const Vec low = broadcast(static_cast<float>(range.first));
  const Vec high = broadcast(static_cast<float>(range.last));
  const Vec lowest = broadcast(-__builtin_inff());
  const auto within = [&](std::int64_t i, Vec v, Vec otherwise) {
    if (i >= range.first && i + kLanes <= range.last) return v;
    const Vec index = lane_index() + static_cast<float>(i);
    return (index >= low) & (index < high) ? v : otherwise;
  };
  Vec maxima = lowest;
  for (std::int64_t i = first; i < last; i += kLanes) {
    Vec s = load(scores + i);
    if (softcap > 0) {
      s = softcap * tanh(s / softcap);
      store(scores + i, s);
    }
    s = within(i, s, lowest);
    maxima = s > maxima ? s : maxima;
  }
  *max = max_lanes(maxima);
  Vec sums{};
  for (std::int64_t i = first; i < last; i += kLanes) {
    const Vec kept = within(i, exp_of_negative(load(scores + i) - *max), Vec{});
    sums += kept;
    store(scores + i, kept);
  }
  *sum = sum_lanes(sums);
  for (std::int64_t i = seen.first; i < first; i += kLanes) store(scores + i, Vec{});
  for (std::int64_t i = last; i < seen.last; i += kLanes) store(scores + i, Vec{});
}

void attend_chunk(const AttentionTile& tile, std::int64_t chunk, const AttentionState& state) {
  const KvAttention& attention = *tile.attention;
  const std::int64_t p = attention.shape.page_tokens;
  const std::int64_t position = attention.position + tile.first_token;
  const Range seen{visible(attention, position, chunk).first,
                   visible(attention, position + tile.tokens - 1, chunk).last};
  const Range pages{seen.first / p, (seen.last + p - 1) / p};
  const KvPage* table = attention.pages + chunk * (kAttentionChunk / p);
  // What is read after page i, keys and then from the first page on values, relative to it.
  const auto ahead = [&](std::int64_t i, bool keys) -> std::int64_t {
    std::int64_t next = i + kPagesAhead;
    std::int64_t offset = 0;
    if (next >= pages.last) {
      next -= pages.last - pages.first;
      if (!keys || next >= pages.last) return 0;
      offset = keys_to_values(attention.shape, table[next].encoding);
    }
    return address(table[next].data) - address(table[i].data) + offset;
  };
  for (std::int64_t i = pages.first; i < pages.last; ++i) {
    score_page({&tile, nullptr, i * p, p, ahead(i, true)}, table[i]);
  }
  const std::int64_t group = tile.group();
  for (std::int64_t r = 0; r < tile.rows(); ++r) {
    soften(tile.scores + r * kScoreStride, visible(attention, position + r / group, chunk),
           {pages.first * p, pages.last * p}, attention.softcap, state.max + r, state.sum + r);
  }
  const std::int64_t width = padded(attention.shape.head_dim);
  std::memset(state.values, 0, static_cast<std::size_t>(tile.rows() * width) * sizeof(float));
  for (std::int64_t i = pages.first; i < pages.last; ++i) {
    const std::int64_t left = seen.last - i * p;
    weigh_page({&tile, nullptr, i * p, left < p ? left : p, ahead(i, false)}, table[i],
               state.values);
  }
}

void gather_queries(const AttentionTile& tile) {
  const KvAttention& attention = *tile.attention;
  const std::int64_t d = attention.shape.head_dim;
  const std::int64_t group = tile.group();
  for (std::int64_t t = 0; t < tile.tokens; ++t) {
    const float* from =
        attention.q + (tile.first_token + t) * attention.q_stride + tile.kv_head * group * d;
    float* to = tile.q + t * group * d;
    for (std::int64_t i = 0; i < group * d; ++i) to[i] = from[i] * attention.scale;
  }
}

// exp(old - max) by which sums relative to `old` are multiplied.
inline float rescale(float old, float max) { return exp(broadcast(old - max))[0]; }

void merge_states(std::int64_t rows, std::int64_t head_dim, const AttentionState& later,
                  const AttentionState& into) {
  const std::int64_t width = padded(head_dim);
  for (std::int64_t r = 0; r < rows; ++r) {
    if (later.sum[r] == 0) continue;
    const float max = into.max[r] > later.max[r] ? into.max[r] : later.max[r];
    const float old_scale = into.sum[r] == 0 ? 0 : rescale(into.max[r], max);
    const float new_scale = rescale(later.max[r], max);
    into.sum[r] = into.sum[r] * old_scale + later.sum[r] * new_scale;
    into.max[r] = max;
    for (std::int64_t i = r * width; i < (r + 1) * width; i += kLanes) {
      const Vec scaled = load(into.values + i) * old_scale;
      store(into.values + i, fma(load(later.values + i), broadcast(new_scale), scaled));
    }
  }
}

void write_output(const AttentionTile& tile, const AttentionState& state) {
  const KvAttention& attention = *tile.attention;
  const std::int64_t d = attention.shape.head_dim;
  const std::int64_t group = tile.group();
  for (std::int64_t r = 0; r < tile.rows(); ++r) {
    float* out = attention.out + (tile.first_token + r / group) * attention.out_stride +
                 (tile.kv_head * group + r % group) * d;
    const float* values = state.values + r * padded(d);
    for (std::int64_t i = 0; i < d; ++i) out[i] = values[i] / state.sum[r];
  }
}

constexpr AttentionKernels kAttention{gather_queries, attend_chunk, merge_states, write_output};

}  // namespace
}  // namespace quire
