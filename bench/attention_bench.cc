// SPDX-License-Identifier: Apache-2.0
// Decode attention over a cache against scaled_dot_product_attention on contiguous tensors of the
// same type, and the price of a fork. 9 query heads over 3 kv heads of 64, two threads.
#include <ATen/Parallel.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <benchmark/benchmark.h>
#include <c10/core/InferenceMode.h>
#include <quire/dynamic_cache.h>
#include <quire/quantized_cache.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/thread_pool.h"

namespace quire {
namespace {

constexpr std::int64_t kLayers = 30;
constexpr std::int64_t kHeads = 9;
constexpr std::int64_t kKvHeads = 3;
constexpr std::int64_t kHeadDim = 64;
constexpr int kThreads = 2;
constexpr float kScale = 0.125F;

KvSpec smollm2(DType dtype) {
  return {.layers = std::vector<KvLayer>(kLayers, {.kv_heads = kKvHeads, .head_dim = kHeadDim}),
          .dtype = dtype};
}

// One forward pass of `tokens` random tokens.
void pass(KvCache& cache, std::int64_t tokens, ThreadPool* threads) {
  const at::Tensor q = at::randn({tokens, kHeads, kHeadDim});
  const at::Tensor k = at::randn({tokens, kKvHeads, kHeadDim});
  const at::Tensor v = at::randn({tokens, kKvHeads, kHeadDim});
  at::Tensor out = at::randn({tokens, kHeads, kHeadDim});
  cache.prepare(tokens);
  for (std::int64_t layer = 0; layer < kLayers; ++layer) {
    cache.attend(
        {.layer = layer, .q = q, .k = k, .v = v, .out = out, .scale = kScale, .threads = threads});
  }
  cache.commit();
}

void fill(KvCache& cache, std::int64_t tokens, ThreadPool* threads) {
  while (cache.length() < tokens) {
    pass(cache, std::min<std::int64_t>(256, tokens - cache.length()), threads);
  }
}

// One token's attention in all layers: time a token.
void decode(benchmark::State& state, KvCache& cache) {
  ThreadPool threads(kThreads);
  const std::int64_t context = state.range(0);
  fill(cache, context - 2, &threads);  // a page that is full would be coded and could not be cut
  for (auto _ : state) {
    pass(cache, 1, &threads);
    cache.drop_last(1);
  }
}

template <DType dtype>
void BM_DecodePages(benchmark::State& state) {
  DynamicCache cache(smollm2(dtype));
  decode(state, cache);
}

template <int bits>
void BM_DecodeCodes(benchmark::State& state) {
  QuantizedCache cache(smollm2(DType::kBF16), {.nbits = bits});
  decode(state, cache);
}

// The same with the query heads of a kv head as rows of one batch entry, the fastest form of
// scaled_dot_product_attention here (enable_gqa and expanded heads are several times slower).
template <at::ScalarType type>
void BM_DecodeSdpa(benchmark::State& state) {
  const c10::InferenceMode guard;
  at::set_num_threads(kThreads);
  const std::int64_t context = state.range(0);
  std::vector<std::pair<at::Tensor, at::Tensor>> layers;
  for (std::int64_t i = 0; i < kLayers; ++i) {
    layers.emplace_back(at::randn({1, kKvHeads, context, kHeadDim}).to(type),
                        at::randn({1, kKvHeads, context, kHeadDim}).to(type));
  }
  const at::Tensor q = at::randn({1, kKvHeads, kHeads / kKvHeads, kHeadDim}).to(type);
  for (auto _ : state) {
    for (const auto& [k, v] : layers) {
      benchmark::DoNotOptimize(
          at::scaled_dot_product_attention(q, k, v, std::nullopt, 0, false, kScale));
    }
  }
}

template <DType dtype>
void BM_Prefill(benchmark::State& state) {
  ThreadPool threads(kThreads);
  for (auto _ : state) {
    DynamicCache cache(smollm2(dtype));
    pass(cache, state.range(0), &threads);
  }
}

constexpr std::int64_t kForkTokens = 8000;

// Filled once for all repetitions: that takes longer than they do.
const KvCache& forked() {
  static const auto cache = [] {
    auto filled = std::make_unique<DynamicCache>(smollm2(DType::kBF16));
    ThreadPool threads(kThreads);
    fill(*filled, kForkTokens, &threads);
    return filled;
  }();
  return *cache;
}

void BM_Fork(benchmark::State& state) {
  const KvCache& cache = forked();
  for (auto _ : state) benchmark::DoNotOptimize(cache.fork());
}

void BM_CopyForkedBytes(benchmark::State& state) {
  const auto bytes =
      static_cast<std::size_t>(kForkTokens * smollm2(DType::kBF16).bytes_per_token());
  const std::vector<char> from(bytes, 1);
  std::vector<char> to(bytes, 2);
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), bytes);
    benchmark::ClobberMemory();
  }
}

constexpr auto kMs = benchmark::kMillisecond;
BENCHMARK(BM_DecodePages<DType::kF32>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodeSdpa<at::kFloat>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodePages<DType::kBF16>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodeSdpa<at::kBFloat16>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodeCodes<8>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodeCodes<4>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_DecodeCodes<2>)->Arg(1024)->Arg(4096)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_Prefill<DType::kBF16>)->Arg(512)->Unit(kMs)->UseRealTime();
BENCHMARK(BM_Fork)->UseRealTime();
BENCHMARK(BM_CopyForkedBytes)->UseRealTime();

}  // namespace
}  // namespace quire

BENCHMARK_MAIN();
