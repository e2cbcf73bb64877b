// SPDX-License-Identifier: Apache-2.0
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/softmax.h>
#include <ATen/ops/tanh.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "kv/layer_groups.h"
#include "kv/page_attention.h"

namespace quire {
namespace {

at::ScalarType scalar_type_of(KvEncoding encoding) {
  switch (encoding) {
    case KvEncoding::kBF16:
      return at::kBFloat16;
    case KvEncoding::kF16:
      return at::kHalf;
    default:
      return at::kFloat;
  }
}

// A page's keys and values, [2, P, Hkv, D].
at::Tensor view_of(const PageSlice& slice, const KvShape& shape) {
  return slice.storage->narrow(0, slice.offset, kv_page_bytes(shape, slice.encoding))
      .view(scalar_type_of(slice.encoding))
      .view({2, shape.page_tokens, shape.kv_heads, shape.head_dim});
}

void append(const LayerPages& pages, const Attention& attention) {
  const std::int64_t p = pages.shape.page_tokens;
  const std::int64_t tokens = attention.k.size(0);
  for (std::int64_t t = 0; t < tokens;) {
    const std::int64_t position = pages.position + t;
    const std::int64_t count = std::min(tokens - t, p - position % p);
    const at::Tensor page =
        view_of(pages.slices[static_cast<std::size_t>(position / p)], pages.shape);
    page.select(0, 0).narrow(0, position % p, count).copy_(attention.k.narrow(0, t, count));
    page.select(0, 1).narrow(0, position % p, count).copy_(attention.v.narrow(0, t, count));
    t += count;
  }
}

// [T, S], true where a query may look: key s is at s, query t at S - T + t.
at::Tensor visible(std::int64_t queries, std::int64_t keys, std::int64_t window,
                   const at::Device& device) {
  const auto options = at::TensorOptions(at::kLong).device(device);
  const at::Tensor key = at::arange(keys, options);
  const at::Tensor query = at::arange(keys - queries, keys, options).unsqueeze(1);
  const at::Tensor causal = key.le(query);
  return window > 0 ? causal.logical_and(key.gt(query.sub(window))) : causal;
}

}  // namespace

void attend_over_tensors(const Attention& attention, const at::Tensor& keys,
                         const at::Tensor& values, std::int64_t window) {
  const std::int64_t tokens = attention.q.size(0);
  const std::int64_t heads = attention.q.size(1);
  const std::int64_t d = attention.q.size(2);
  const std::int64_t kv_heads = keys.size(1);
  const std::int64_t group = heads / kv_heads;
  // The query heads of a kv head become rows beside each other: [Hkv, G T, D].
  const at::Tensor q = attention.q.view({tokens, kv_heads, group, d})
                           .permute({1, 2, 0, 3})
                           .reshape({kv_heads, group * tokens, d});
  const at::Tensor k = keys.to(q.scalar_type()).transpose(0, 1);
  const at::Tensor v = values.to(q.scalar_type()).transpose(0, 1);
  const at::Tensor mask = visible(tokens, keys.size(0), window, q.device()).repeat({group, 1});
  at::Tensor out;
  if (attention.softcap > 0) {
    const double cap = static_cast<double>(attention.softcap);
    const at::Tensor scores = at::matmul(q, k.transpose(1, 2)).mul(attention.scale);
    const at::Tensor capped = at::tanh(scores.div(cap)).mul(cap);
    const at::Tensor masked =
        capped.masked_fill(mask.logical_not(), -std::numeric_limits<double>::infinity());
    out = at::matmul(at::softmax(masked, -1, at::kFloat).to(v.scalar_type()), v);
  } else {
    out = at::scaled_dot_product_attention(q.unsqueeze(0), k.unsqueeze(0), v.unsqueeze(0), mask, 0,
                                           false, static_cast<double>(attention.scale))
              .squeeze(0);
  }
  attention.out.copy_(
      out.view({kv_heads, group, tokens, d}).permute({2, 0, 1, 3}).reshape({tokens, heads, d}));
}

void attend_by_aten(const LayerPages& pages, const Attention& attention) {
  append(pages, attention);
  const std::int64_t p = pages.shape.page_tokens;
  const std::int64_t last = pages.position + attention.q.size(0);
  const std::int64_t first = first_seen(pages.position, pages.window) / p * p;
  std::vector<at::Tensor> parts;
  for (std::int64_t page = first / p; page < pages_for(last, p); ++page) {
    parts.push_back(view_of(pages.slices[static_cast<std::size_t>(page)], pages.shape));
  }
  const at::Tensor all = at::cat(parts, 1).narrow(1, 0, last - first);
  attend_over_tensors(attention, all.select(0, 0), all.select(0, 1), pages.window);
}

}  // namespace quire
