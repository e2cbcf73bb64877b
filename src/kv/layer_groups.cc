// SPDX-License-Identifier: Apache-2.0
#include "kv/layer_groups.h"

#include <quire/error.h>

#include <algorithm>
#include <string>

namespace quire {
namespace {

void check(const KvSpec& spec, std::string_view subject) {
  const auto fail = [subject](const std::string& problem) {
    throw Error(ErrorCode::kInvalidArgument, subject, problem);
  };
  if (spec.layers.empty()) fail("expected a KvSpec with layers, found none");
  if (spec.dtype == DType::kAuto || spec.dtype == DType::kNative) {
    fail("expected f32, bf16 or f16 for KvSpec::dtype, found " +
         std::string(to_string(spec.dtype)));
  }
  for (std::size_t i = 0; i < spec.layers.size(); ++i) {
    const KvLayer& layer = spec.layers[i];
    if (layer.kv_heads > 0 && layer.head_dim > 0 && layer.window >= 0) continue;
    fail("expected heads and dimensions, found kv_heads " + std::to_string(layer.kv_heads) +
         ", head_dim " + std::to_string(layer.head_dim) + ", window " +
         std::to_string(layer.window) + " in layer " + std::to_string(i));
  }
}

}  // namespace

LayerGroups group_layers(const KvSpec& spec, std::string_view subject) {
  check(spec, subject);
  LayerGroups result;
  for (const KvLayer& layer : spec.layers) {
    auto group = std::ranges::find(result.groups, layer, &LayerGroup::shape);
    if (group == result.groups.end()) group = result.groups.insert(group, {layer, 0});
    result.places.push_back(
        {static_cast<std::size_t>(group - result.groups.begin()), group->layers++});
  }
  return result;
}

KvEncoding encoding_of(DType dtype) {
  switch (dtype) {
    case DType::kBF16:
      return KvEncoding::kBF16;
    case DType::kF16:
      return KvEncoding::kF16;
    default:
      return KvEncoding::kF32;
  }
}

std::int64_t page_bytes(const LayerGroup& group, std::int64_t page_tokens, KvEncoding encoding) {
  return group.layers * kv_page_bytes(page_shape(group, page_tokens), encoding);
}

}  // namespace quire
