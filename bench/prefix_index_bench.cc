// SPDX-License-Identifier: Apache-2.0
// The prefix cache's index without any pages: block look-ups and insertions a second, bytes a
// block.
#include <benchmark/benchmark.h>
#include <quire/prefix_index.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

namespace {

using quire::TokenId;
using quire::TokenIds;

constexpr std::int64_t kBlockSize = 16;
constexpr std::int64_t kTextBlocks = 64;  // a text of 1024 tokens
const quire::BlockKey kSpace{1, 2};

// Text i of many that share nothing.
void fill(TokenIds& text, std::uint64_t i) {
  std::uint64_t state = i * 0x9e3779b97f4a7c15u + 1;
  for (TokenId& token : text) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    token = static_cast<TokenId>(state >> 47);
  }
}

void insert(quire::PrefixIndex& index, const TokenIds& text) {
  quire::BlockId parent = quire::kNoBlock;
  for (std::int64_t b = 0; b < std::ssize(text) / kBlockSize; ++b) {
    const auto block = std::span(text).subspan(static_cast<std::size_t>(b * kBlockSize),
                                               static_cast<std::size_t>(kBlockSize));
    const auto id = index.insert(kSpace, parent, block);
    if (!id) return;
    parent = *id;
  }
}

quire::PrefixIndex index_of(std::int64_t texts) {
  quire::PrefixIndex index({.block_size = kBlockSize});
  TokenIds text(static_cast<std::size_t>(kTextBlocks * kBlockSize));
  for (std::int64_t i = 0; i < texts; ++i) {
    fill(text, static_cast<std::uint64_t>(i));
    insert(index, text);
  }
  return index;
}

// Whole texts in random order, all of them known.
void look_up(benchmark::State& state) {
  const std::int64_t texts = state.range(0) / kTextBlocks;
  quire::PrefixIndex index = index_of(texts);
  std::mt19937_64 random(1);
  constexpr std::size_t kPrepared = 256;
  std::vector<TokenIds> prepared(kPrepared,
                                 TokenIds(static_cast<std::size_t>(kTextBlocks * kBlockSize)));
  std::size_t next = kPrepared;
  for (auto _ : state) {
    if (next == kPrepared) {
      state.PauseTiming();
      for (TokenIds& text : prepared) fill(text, random() % static_cast<std::uint64_t>(texts));
      next = 0;
      state.ResumeTiming();
    }
    const TokenIds& text = prepared[next++];
    const quire::IndexMatch match = index.lookup(kSpace, text, std::ssize(text));
    if (match.tokens != std::ssize(text)) state.SkipWithError("a known text was not found");
  }
  const quire::PrefixIndexStats stats = index.stats();
  state.SetItemsProcessed(state.iterations() * kTextBlocks);
  state.counters["bytes_per_block"] =
      static_cast<double>(stats.bytes) / static_cast<double>(stats.blocks);
}
BENCHMARK(look_up)->Name("look_up_blocks")->Arg(100'000)->Arg(1'000'000)->Arg(10'000'000);

// Look-ups that miss at once: what a cold request pays.
void look_up_unknown(benchmark::State& state) {
  quire::PrefixIndex index = index_of(state.range(0) / kTextBlocks);
  TokenIds text(static_cast<std::size_t>(kTextBlocks * kBlockSize));
  fill(text, UINT64_MAX);
  for (auto _ : state) benchmark::DoNotOptimize(index.lookup(kSpace, text, std::ssize(text)));
}
BENCHMARK(look_up_unknown)->Arg(100'000);

// New texts in a full index: each insertion evicts a block.
void insert_and_evict(benchmark::State& state) {
  quire::PrefixIndex index({.block_size = kBlockSize, .capacity_blocks = state.range(0)});
  TokenIds text(static_cast<std::size_t>(kTextBlocks * kBlockSize));
  std::uint64_t i = 0;
  for (; static_cast<std::int64_t>(i) < state.range(0) / kTextBlocks; ++i) {
    fill(text, i);
    index.lookup(kSpace, text, std::ssize(text));
    insert(index, text);
  }
  for (auto _ : state) {
    fill(text, i++);
    index.lookup(kSpace, text, std::ssize(text));
    insert(index, text);
  }
  state.SetItemsProcessed(state.iterations() * kTextBlocks);
}
BENCHMARK(insert_and_evict)->Arg(100'000)->Arg(1'000'000);

}  // namespace

BENCHMARK_MAIN();
