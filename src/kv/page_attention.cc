// SPDX-License-Identifier: Apache-2.0
#include "kv/page_attention.h"

#include <quire/error.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace quire {
namespace {

void check_tensor(std::string_view name, const at::Tensor& tensor, std::int64_t tokens,
                  std::int64_t heads, std::int64_t head_dim) {
  const auto fail = [name](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::attend", std::string(name) + ": " + problem);
  };
  if (!tensor.defined() || tensor.dim() != 3) fail("expected three dimensions");
  if (tensor.size(0) != tokens || tensor.size(2) != head_dim ||
      (heads > 0 && tensor.size(1) != heads)) {
    fail("expected [" + std::to_string(tokens) + ", " + (heads > 0 ? std::to_string(heads) : "H") +
         ", " + std::to_string(head_dim) + "], found [" + std::to_string(tensor.size(0)) + ", " +
         std::to_string(tensor.size(1)) + ", " + std::to_string(tensor.size(2)) + "]");
  }
  if (tensor.is_cpu() && tensor.scalar_type() != at::kFloat) fail("expected float32 on the CPU");
  if (tensor.numel() > 0 && (tensor.stride(2) != 1 || tensor.stride(1) != head_dim)) {
    fail("expected contiguous rows");
  }
}

}  // namespace

void check_attention(const Attention& attention, const KvLayer& layer, std::int64_t tokens) {
  check_tensor("q", attention.q, tokens, 0, layer.head_dim);
  check_tensor("k", attention.k, tokens, layer.kv_heads, layer.head_dim);
  check_tensor("v", attention.v, tokens, layer.kv_heads, layer.head_dim);
  const std::int64_t heads = attention.q.size(1);
  check_tensor("out", attention.out, tokens, heads, layer.head_dim);
  if (heads == 0 || heads % layer.kv_heads != 0) {
    throw Error(ErrorCode::kInvalidArgument, "KvCache::attend",
                "expected a multiple of " + std::to_string(layer.kv_heads) +
                    " query heads, found " + std::to_string(heads));
  }
}

void attend_by_kernels(const LayerPages& pages, const Attention& attention) {
  std::vector<KvPage> table(pages.slices.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const PageSlice& slice = pages.slices[i];
    if (slice.storage == nullptr) continue;
    table[i] = {static_cast<std::byte*>(slice.storage->data_ptr()) + slice.offset, slice.encoding};
  }
  append_to_pages({.shape = pages.shape,
                   .pages = table.data(),
                   .position = pages.position,
                   .tokens = attention.q.size(0),
                   .keys = attention.k.const_data_ptr<float>(),
                   .key_stride = attention.k.stride(0),
                   .values = attention.v.const_data_ptr<float>(),
                   .value_stride = attention.v.stride(0)});
  attend_to_pages({.shape = pages.shape,
                   .pages = table.data(),
                   .heads = attention.q.size(1),
                   .position = pages.position,
                   .tokens = attention.q.size(0),
                   .window = pages.window,
                   .scale = attention.scale,
                   .softcap = attention.softcap,
                   .q = attention.q.const_data_ptr<float>(),
                   .q_stride = attention.q.stride(0),
                   .out = attention.out.mutable_data_ptr<float>(),
                   .out_stride = attention.out.stride(0)},
                  attention.threads);
}

AttendToPages attention_on(Device device) {
  return device == Device::kCpu ? attend_by_kernels : attend_by_aten;
}

}  // namespace quire
