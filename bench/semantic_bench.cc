// SPDX-License-Identifier: Apache-2.0
// What asking a semantic cache costs: the scan over vectors of 384 numbers on one core, and with
// --model=DIRECTORY the embedding of one question of 16 tokens.
//
//   quire_semantic_bench --model=$HOME/.cache/quire/models/minilm
#include <benchmark/benchmark.h>
#include <quire/embedder.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "semantic/vector_table.h"

namespace quire {
namespace {

constexpr std::size_t kDimension = 384;
constexpr std::size_t kTokens = 16;
constexpr std::size_t kCandidates = 8;  // as SemanticCacheOptions has it

// A direction that all share and one of their own: cosines as those of a topic's questions.
std::vector<float> unit_vector(std::mt19937& random) {
  std::normal_distribution<float> normal;
  std::vector<float> values(kDimension);
  float square = 0;
  for (float& value : values) {
    value = 0.8F + normal(random);
    square += value * value;
  }
  for (float& value : values) value /= std::sqrt(square);
  return values;
}

void look_up(benchmark::State& state) {
  std::mt19937 random(1);
  VectorTable table(kDimension);
  for (std::int64_t i = 0; i < state.range(0); ++i) table.add(unit_vector(random));
  const std::vector<float> asked = unit_vector(random);
  for (auto _ : state) benchmark::DoNotOptimize(table.nearest(asked, kCandidates));
}
BENCHMARK(look_up)->Arg(10'000)->Arg(100'000)->Unit(benchmark::kMillisecond);

void embed(benchmark::State& state, const Embedder& embedder) {
  const std::string question = "How do I change the address of an order that is already placed?";
  if (embedder.embed_in_detail(question).ids.size() != kTokens) {
    return state.SkipWithError("the question does not have 16 tokens");
  }
  for (auto _ : state) benchmark::DoNotOptimize(embedder.embed(question));
}

}  // namespace
}  // namespace quire

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr const char* kModel = "--model=";
  std::shared_ptr<const quire::Embedder> embedder;
  for (int i = 1; i < argc; ++i) {
    if (std::strncmp(argv[i], kModel, std::strlen(kModel)) != 0) return 2;
    embedder = quire::Embedder::load(argv[i] + std::strlen(kModel));
    benchmark::RegisterBenchmark("embed",
                                 [&](benchmark::State& state) { quire::embed(state, *embedder); })
        ->Unit(benchmark::kMillisecond)
        ->UseRealTime();
  }
  benchmark::RunSpecifiedBenchmarks();
}
