// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace quire {

class ThreadPool;

// Attention over pages of keys and values, read where they lie.
//
// A page holds `page_tokens` consecutive tokens of one layer: for every kv head its keys,
// transposed [D, P], then for every kv head its values [P, D]. One load of keys then serves a
// vector of tokens, one load of values a vector of dimensions, and no sum runs across a vector.
// Coded pages hold, for every kv head,
//   keys [D, P] in `bits` bits, f16 scales [D], f16 zeros [D]                          (per
//   channel) values [P, D'] in `bits` bits, f16 scales [D'/group, P], f16 zeros [D'/group, P] (per
//   token)
// with D' = D rounded up to 32, x = zero + scale * code. Scales are folded into the queries and the
// probabilities, so codes are read as they are.
//
// Every sum has an order fixed by absolute position: softmax and weighted values within chunks of
// kAttentionChunk tokens that begin at multiples of it, chunks merged from the first to the last.
// A query's result is therefore the same to the bit however a prompt is cut into passes, however
// queries are batched and however many threads take part. It may differ between instruction sets.
//
// Thread-safety: functions of their arguments; distinct outputs may be written concurrently.

enum class KvEncoding : std::uint8_t { kF32, kBF16, kF16, kCodes8, kCodes4, kCodes2 };

inline constexpr std::int64_t kAttentionChunk = 256;

struct KvShape {
  std::int64_t kv_heads = 0;     // Hkv
  std::int64_t head_dim = 0;     // D
  std::int64_t page_tokens = 0;  // P: 16, 32 or 64; 32 or 64 for codes
};

// Bytes of one layer's part of a page. `shape.page_tokens` is also the group of a coded value row.
std::int64_t kv_page_bytes(const KvShape& shape, KvEncoding encoding);

struct KvPage {
  std::byte* data = nullptr;
  KvEncoding encoding = KvEncoding::kF32;
};

// Writes keys and values of `tokens` tokens, [T, Hkv, D] float32 with strides in floats between
// tokens, to positions `position`, position + 1, … of the table. Rounds to nearest even.
// REQUIRES: the pages written are not coded.
struct KvAppend {
  KvShape shape;
  const KvPage* pages;  // pages[i] holds tokens [i P, (i + 1) P)
  std::int64_t position;
  std::int64_t tokens;
  const float* keys;
  std::int64_t key_stride;
  const float* values;
  std::int64_t value_stride;
};
void append_to_pages(const KvAppend& append);

// Encodes a full page into a coded one. Values beyond f16 range saturate.
void encode_page(const KvShape& shape, const KvPage& from, const KvPage& to);

// Softmax attention of `tokens` consecutive queries, the first at `position`, each over the tokens
// up to and including its own position. Head h reads kv head h / (heads / kv_heads).
// REQUIRES: every page that a query can see is in the table; others may be null.
struct KvAttention {
  KvShape shape;
  const KvPage* pages;
  std::int64_t heads;
  std::int64_t position;
  std::int64_t tokens;
  std::int64_t window;  // the last `window` tokens, itself included; 0: all
  float scale;
  float softcap;   // cap * tanh(score / cap); 0: none
  const float* q;  // [T, H, D]
  std::int64_t q_stride;
  float* out;  // [T, H, D]
  std::int64_t out_stride;
};
void attend_to_pages(const KvAttention& attention, ThreadPool* threads);

}  // namespace quire
