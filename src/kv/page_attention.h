// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/kv_cache.h>

#include <cstdint>
#include <vector>

#include "kernels/attention.h"

namespace quire {

// Where one layer's part of a page lies: `offset` bytes into storage; null when it is not kept.
struct PageSlice {
  const at::Tensor* storage = nullptr;  // [bytes] uint8
  std::int64_t offset = 0;
  KvEncoding encoding = KvEncoding::kF32;
};

// One layer of one sequence: page i holds tokens [i P, (i + 1) P), room for the new ones included.
struct LayerPages {
  KvShape shape;
  std::int64_t window = 0;
  std::int64_t position = 0;  // of the first new token
  std::vector<PageSlice> slices;
};

// Appends the new keys and values to the pages and writes the attention over them.
using AttendToPages = void (*)(const LayerPages& pages, const Attention& attention);

// On the CPU, by kernels that read pages where they lie (kernels/attention.h).
void attend_by_kernels(const LayerPages& pages, const Attention& attention);

// On any device, by ATen: pages hold [P, Hkv, D] keys, then as many values; they are gathered and
// attended to as one tensor. Does not read codes.
void attend_by_aten(const LayerPages& pages, const Attention& attention);

// attend_by_kernels on the CPU, else attend_by_aten.
AttendToPages attention_on(Device device);

// Throws Error kInvalidArgument unless the tensors have the shapes of `layer` and `tokens` rows.
void check_attention(const Attention& attention, const KvLayer& layer, std::int64_t tokens);

// Softmax attention of q [T, H, D] over keys and values [S, Hkv, D] of any dtype, the last T of
// them the queries' own, into out [T, H, D].
void attend_over_tensors(const Attention& attention, const at::Tensor& keys,
                         const at::Tensor& values, std::int64_t window);

}  // namespace quire
