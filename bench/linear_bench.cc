// SPDX-License-Identifier: Apache-2.0
// Linear layers in the shapes of a 135 M parameter decoder, from one row (decode) to 512
// (prefill). The matrices of a run are copies that together exceed the caches, as a model's
// layers do. Counters: multiply-adds and bytes of weights a second.
//
//   quire_linear_bench --benchmark_filter=bf16/1536x576
#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "kernels/linear.h"
#include "kernels/quantised_linear.h"

namespace quire {
namespace {

using std::int64_t;

constexpr int64_t kWorkingSet = int64_t{96} << 20;

ThreadPool& pool() {
  static ThreadPool two(2);
  return two;
}

std::unique_ptr<PackedMatrix> make(int64_t n, int64_t k, DType dtype) {
  const RowSource source = [k](int64_t first, int64_t count, float* out) {
    for (int64_t i = 0; i < count * k; ++i) {
      out[i] = static_cast<float>((first * k + i) % 255 - 127) / 128;
    }
  };
  return std::make_unique<PackedMatrix>(n, k, dtype, source, &pool());
}

std::unique_ptr<QuantisedMatrix> make(int64_t n, int64_t k, BlockType type) {
  const QuantisedFormat format = quantised_format(type);
  const QuantisedSource source = [k, format](int64_t row, const QuantisedRow& out) {
    for (int64_t i = 0; i < k; ++i) {
      out.codes[i] = static_cast<std::uint8_t>((row + i) % (1 << format.bits));
    }
    std::fill_n(out.d, k / format.block_inputs(), std::uint16_t{0x2000});  // 2^-7
    std::fill_n(out.m, k / format.block_inputs(), std::uint16_t{0x2400});
    std::fill_n(out.scales, k / kUnit * format.groups, std::int8_t{3});
    std::fill_n(out.mins, k / kUnit * format.groups, std::uint8_t{5});
  };
  return std::make_unique<QuantisedMatrix>(n, k, type, source, &pool());
}

// Copies that together exceed the caches.
template <typename Encoding>
auto copies(int64_t n, int64_t k, Encoding encoding) {
  std::vector<decltype(make(n, k, encoding))> all;
  do {
    all.push_back(make(n, k, encoding));
  } while (static_cast<int64_t>(all.size()) * static_cast<int64_t>(all[0]->bytes()) < kWorkingSet);
  return all;
}

template <typename Encoding>
void run_linear(benchmark::State& state, int64_t n, int64_t k, Encoding encoding) {
  const int64_t m = state.range(0);
  const auto weights = copies(n, k, encoding);
  std::vector<float> x(static_cast<std::size_t>(m * k));
  std::iota(x.begin(), x.end(), 0.0F);
  for (float& value : x) value = value / static_cast<float>(x.size()) - 0.5F;
  std::vector<float> y(static_cast<std::size_t>(m * n));
  std::size_t next = 0;
  for (auto _ : state) {
    kernels::linear(*weights[next], x.data(), m, k, nullptr, y.data(), n, &pool());
    next = (next + 1) % weights.size();
    benchmark::DoNotOptimize(y.data());
  }
  const auto rate = [&](int64_t per_call) {
    return benchmark::Counter(static_cast<double>(per_call),
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  state.counters["mac/s"] = rate(m * n * k);
  state.counters["B/s"] = rate(static_cast<int64_t>(weights[0]->bytes()));
}

// What decode is measured against: the pool reading as many bytes and doing nothing else.
void run_stream(benchmark::State& state) {
  const PackedMatrix matrix(
      kWorkingSet / 64, 16, DType::kF32,
      [](int64_t, int64_t count, float* out) { std::fill_n(out, count * 16, 1.0F); }, &pool());
  std::atomic<std::uint64_t> total{0};
  for (auto _ : state) {
    pool().run([&](int part, int parts) {
      const auto* words = reinterpret_cast<const std::uint64_t*>(matrix.data());
      const Slice slice =
          slice_of(static_cast<int64_t>(matrix.bytes() / sizeof(std::uint64_t)), 512, part, parts);
      std::uint64_t sum = 0;
      for (int64_t i = slice.first; i < slice.last; ++i) sum ^= words[i];
      total += sum;
    });
  }
  benchmark::DoNotOptimize(total.load());
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(matrix.bytes()));
}

int64_t whole_blocks(int64_t k, DType) { return k; }
int64_t whole_blocks(int64_t k, BlockType type) {
  const int64_t block = quantised_format(type).block_inputs();
  return (k + block - 1) / block * block;
}

template <typename Encoding>
void register_shapes(const char* name, Encoding encoding) {
  const int64_t shapes[][2] = {{576, 576}, {192, 576}, {1536, 576}, {576, 1536}, {49152, 576}};
  for (const auto& [n, k] : shapes) {
    const int64_t inputs = whole_blocks(k, encoding);
    const std::string title =
        std::string(name) + "/" + std::to_string(n) + "x" + std::to_string(inputs);
    benchmark::RegisterBenchmark(title.c_str(), run_linear<Encoding>, n, inputs, encoding)
        ->Arg(1)
        ->Arg(8)
        ->Arg(64)
        ->Arg(512)
        ->UseRealTime()
        ->MeasureProcessCPUTime();
  }
}

void register_all() {
  register_shapes("f32", DType::kF32);
  register_shapes("bf16", DType::kBF16);
  register_shapes("f16", DType::kF16);
  const std::pair<const char*, BlockType> types[] = {
      {"q4_0", BlockType::kQ4_0}, {"q4_1", BlockType::kQ4_1}, {"q5_0", BlockType::kQ5_0},
      {"q8_0", BlockType::kQ8_0}, {"q4_k", BlockType::kQ4_K}, {"q6_k", BlockType::kQ6_K}};
  for (const auto& [name, type] : types) register_shapes(name, type);
  benchmark::RegisterBenchmark("stream", run_stream)->UseRealTime();
}

}  // namespace
}  // namespace quire

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  quire::register_all();
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
