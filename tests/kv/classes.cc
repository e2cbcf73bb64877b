// SPDX-License-Identifier: Apache-2.0
#include "tests/kv/classes.h"

#include <ATen/ops/cat.h>
#include <quire/dynamic_cache.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/static_cache.h>

#include <algorithm>
#include <utility>

#include "kv/page_pool.h"

namespace quire::testing {
namespace {

// The least that a user's own cache has to be.
class MinimalCache final : public KvCache {
 public:
  explicit MinimalCache(const KvSpec& spec) : spec_(spec), layers_(spec.layers.size()) {}

  std::int64_t length() const override {
    return layers_[0].first.defined() ? layers_[0].first.size(0) : 0;
  }
  void truncate(std::int64_t n) override {
    for (auto& [keys, values] : layers_) {
      if (!keys.defined()) continue;
      keys = keys.narrow(0, 0, std::min(n, keys.size(0)));
      values = values.narrow(0, 0, std::min(n, values.size(0)));
    }
  }
  std::unique_ptr<KvCache> clone() const override {
    auto copy = std::make_unique<MinimalCache>(spec_);
    copy->layers_ = layers_;  // tensors that are never written again
    return copy;
  }

 private:
  std::pair<at::Tensor, at::Tensor> update(std::int64_t layer, const at::Tensor& k,
                                           const at::Tensor& v) override {
    auto& [keys, values] = layers_[static_cast<std::size_t>(layer)];
    keys = keys.defined() ? at::cat({keys, k}) : k.clone();
    values = values.defined() ? at::cat({values, v}) : v.clone();
    return {keys, values};
  }
  std::int64_t window(std::int64_t layer) const override {
    return spec_.layers[static_cast<std::size_t>(layer)].window;
  }

  KvSpec spec_;
  std::vector<std::pair<at::Tensor, at::Tensor>> layers_;
};

std::unique_ptr<KvCache> make_dynamic(const KvSpec& spec, std::int64_t block_size) {
  return std::make_unique<DynamicCache>(spec, PagePoolOptions{.block_size = block_size});
}

CacheClass quantized(const std::string& name, DType dtype, QuantizedCacheOptions options,
                     double tolerance) {
  return {
      .name = name,
      .dtype = dtype,
      .make = [options](const KvSpec& s) { return std::make_unique<QuantizedCache>(s, options); },
      .coding = {options.nbits, options.q_group_size, options.residual_length},
      .tolerance = tolerance};
}

std::unique_ptr<KvCache> make_aten(const KvSpec& spec) {
  auto pool = std::make_shared<PagePool>(spec);
  pool->impl().attend = attend_by_aten;
  return std::make_unique<DynamicCache>(std::move(pool));
}

}  // namespace

std::vector<CacheClass> cache_classes() {
  const auto dynamic32 = [](const KvSpec& spec) { return make_dynamic(spec, 32); };
  return {
      {"Dynamic", DType::kF32, dynamic32},
      {"DynamicPage16", DType::kF32, [](const KvSpec& s) { return make_dynamic(s, 16); }},
      {"DynamicPage64", DType::kF32, [](const KvSpec& s) { return make_dynamic(s, 64); }},
      {"DynamicBF16", DType::kBF16, dynamic32},
      {"DynamicF16", DType::kF16, dynamic32},
      {.name = "DynamicByAten", .make = make_aten, .by_kernels = false},
      {.name = "DynamicByAtenBF16", .dtype = DType::kBF16, .make = make_aten, .by_kernels = false},
      {"Static", DType::kF32,
       [](const KvSpec& s) {
         return std::make_unique<StaticCache>(s, StaticCacheOptions{.max_length = 500});
       }},
      {.name = "Sliding",
       .make =
           [](const KvSpec& s) {
             return std::make_unique<SlidingCache>(s, SlidingCacheOptions{.window = 50});
           },
       .window = 50},
      {.name = "SlidingWindow1",
       .make =
           [](const KvSpec& s) {
             return std::make_unique<SlidingCache>(
                 s, SlidingCacheOptions{.window = 1, .pages = {.block_size = 16}});
           },
       .window = 1},
      quantized("Quantized8", DType::kBF16, {.nbits = 8}, 1e-5),
      quantized("Quantized4", DType::kBF16, {.nbits = 4}, 1e-5),
      quantized("Quantized2Residual32", DType::kBF16, {.nbits = 2, .residual_length = 32}, 1e-5),
      quantized("Quantized4F32Residual96", DType::kF32, {.nbits = 4, .residual_length = 96}, 1e-5),
      // More than the windows in test_spec: pages are gone before they would be coded.
      quantized("Quantized4Residual128", DType::kBF16, {.nbits = 4, .residual_length = 128}, 1e-5),
      quantized("Quantized4Group64", DType::kBF16,
                {.nbits = 4, .q_group_size = 64, .residual_length = 64}, 1e-5),
      {.name = "UserWritten",
       .make = [](const KvSpec& s) { return std::make_unique<MinimalCache>(s); },
       .by_kernels = false},
  };
}

KvSpec test_spec(DType dtype) {
  return {.layers = {{.kv_heads = 2, .head_dim = 16},
                     {.kv_heads = 1, .head_dim = 24, .window = 40},
                     {.kv_heads = 2, .head_dim = 16}},
          .dtype = dtype};
}

KvSpec effective_spec(const CacheClass& cache, KvSpec spec) {
  if (cache.window == 0) return spec;
  for (KvLayer& layer : spec.layers) {
    layer.window = layer.window == 0 ? cache.window : std::min(layer.window, cache.window);
  }
  return spec;
}

}  // namespace quire::testing
