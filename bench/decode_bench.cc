// SPDX-License-Identifier: Apache-2.0
// quire_decode_bench MODEL [THREADS]: what one step of decoding takes, and what of it is what.
//
// - A step of one sequence after contexts of some lengths, and of eight sequences together.
// - The products: every matrix of the model once, in the order of a step, and nothing else. What a
//   step after no context takes beyond them is overhead: norms, rotation, gating, keys and values.
// - Reading the weights once by all threads.
// - generate(): a token of a greedy answer of 64 from one token on, sampling and scheduling with it.
// - From Model::load to the first token of an answer to a short prompt.
//
// All in turns, the least of kRounds counts; milliseconds.
#include <quire/dynamic_cache.h>
#include <quire/generator.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernels/aligned_memory.h"
#include "kernels/thread_pool.h"
#include "model/decoder.h"
#include "model/model_files.h"
#include "yardstick.h"

namespace {

using namespace quire;
using bench::Least;
using std::int64_t;

constexpr int kRounds = 12;
constexpr int kSteps = 8;  // a measurement
constexpr int64_t kTogether = 8;
constexpr int64_t kContexts[] = {1, 64, 512, 1024, 4096};
constexpr int64_t kContextsTogether[] = {64, 512};

// Sequences that have read `context` tokens each, none like another.
class Sequences {
 public:
  Sequences(const Decoder& decoder, const KvSpec& spec, int64_t count, int64_t context,
            bench::RandomTokens& random, ThreadPool& pool)
      : decoder_(decoder), context_(context), pool_(pool), next_(random.next(count)) {
    for (int64_t i = 0; i < count; ++i) {
      caches_.push_back(std::make_unique<DynamicCache>(spec));
      const TokenIds ids = random.next(context);
      const Sequence sequence{.tokens = ids, .cache = *caches_.back()};
      decoder_.forward({&sequence, 1}, &pool_);
    }
  }

  // Steps of one token for all, taken back afterwards.
  void measure() {
    std::vector<Sequence> batch;
    for (std::size_t i = 0; i < caches_.size(); ++i) {
      batch.push_back({.tokens = {&next_[i], 1}, .cache = *caches_[i]});
    }
    const auto start = bench::Clock::now();
    for (int i = 0; i < kSteps; ++i) decoder_.forward(batch, &pool_);
    time_.take(bench::milliseconds(bench::Clock::now() - start) / kSteps);
    for (const auto& cache : caches_) cache->truncate(context_);
  }

  double ms() const { return time_.ms(); }

 private:
  const Decoder& decoder_;
  int64_t context_;
  ThreadPool& pool_;
  TokenIds next_;
  std::vector<std::unique_ptr<DynamicCache>> caches_;
  Least time_;
};

// The matrices of a step by one row.
class Products {
 public:
  Products(const Weights& weights, ThreadPool& pool) : pool_(pool) {
    for (const LayerWeights& layer : weights.layers) {
      for (const MatrixPtr* matrix : {&layer.qkv, &layer.out, &layer.gate_up, &layer.down}) {
        if (*matrix) matrices_.push_back(matrix->get());
      }
    }
    matrices_.push_back(&weights.head());
    for (const Matrix* matrix : matrices_) {
      bytes_ += matrix->bytes();
      if (buffers_.contains(matrix->cols())) continue;
      buffers_[matrix->cols()] = cpu_ops().buffer(1, matrix->cols()).fill_(0.5F);
    }
    for (const Matrix* matrix : matrices_) {
      if (!outputs_.contains(matrix->rows())) {
        outputs_[matrix->rows()] = cpu_ops().buffer(1, matrix->rows());
      }
    }
  }

  int64_t bytes() const { return bytes_; }

  void run() {
    for (const Matrix* matrix : matrices_) {
      cpu_ops().linear(*matrix, buffers_[matrix->cols()], outputs_[matrix->rows()], &pool_);
    }
  }

 private:
  ThreadPool& pool_;
  std::vector<const Matrix*> matrices_;
  std::map<int64_t, at::Tensor> buffers_;  // by width
  std::map<int64_t, at::Tensor> outputs_;
  int64_t bytes_ = 0;
};

// As many bytes as the weights have, read by all threads.
class Stream {
 public:
  Stream(int64_t bytes, ThreadPool& pool)
      : words_(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t), 1), pool_(pool) {}

  void run() {
    pool_.run([&](int part, int parts) {
      const Slice slice = slice_of(std::ssize(words_), 512, part, parts);
      std::uint64_t sum = 0;
      for (int64_t i = slice.first; i < slice.last; ++i) sum ^= words_[static_cast<std::size_t>(i)];
      total_ += sum;
    });
  }

 private:
  std::vector<std::uint64_t> words_;
  ThreadPool& pool_;
  std::atomic<std::uint64_t> total_{0};
};

void generate(Generator& generator, Least& time) {
  Request request;
  request.ids = TokenIds{1};
  request.max_new_tokens = 64;
  request.sampling = Sampling{};
  request.ignore_eos = true;
  request.prefix_cache = false;
  time.take(1000 / generator.generate(request).timings.decode_tokens_per_s);
}

void begin(const char* path, int threads, Least& time) {
  Request request;
  request.ids = TokenIds{1, 2, 3, 4, 5};
  request.max_new_tokens = 1;
  time.measure([&] {
    Generator generator(Model::load(path, {.threads = threads}), {.threads = threads});
    generator.generate(request);
  });
}

int run(const char* path, int threads) {
  ThreadPool pool(threads);
  const ModelFiles files = open_model(path);
  const DType dtype = resolve_dtype(DType::kAuto, files.plan, Device::kCpu);
  const Weights weights = load_weights(files.plan, files.config, cpu_ops(), dtype, &pool, {});
  const Decoder decoder(files.config, weights, cpu_ops());
  const KvSpec spec = kv_spec_of(files.config, dtype, Device::kCpu);
  Generator generator(Model::load(path), {.threads = threads});

  bench::RandomTokens random(files.config.vocab_size);
  std::map<int64_t, Sequences> alone;
  std::map<int64_t, Sequences> together;
  for (const int64_t context : kContexts) {
    if (context + kSteps > files.config.context) continue;
    alone.try_emplace(context, decoder, spec, 1, context, random, pool);
  }
  for (const int64_t context : kContextsTogether) {
    together.try_emplace(context, decoder, spec, kTogether, context, random, pool);
  }
  Products products(weights, pool);
  Stream stream(products.bytes(), pool);
  Least product_time;
  Least stream_time;
  Least generate_time;
  Least begin_time;
  for (int round = 0; round < kRounds; ++round) {
    for (auto& [context, sequences] : alone) sequences.measure();
    for (auto& [context, sequences] : together) sequences.measure();
    product_time.measure([&] { products.run(); });
    stream_time.measure([&] { stream.run(); });
    generate(generator, generate_time);
    begin(path, threads, begin_time);
  }

  const double first = alone.at(1).ms();
  for (const auto& [context, sequences] : alone) {
    std::printf("a step after %5ld: %7.3f ms, %.2f of the speed after none\n", long{context},
                sequences.ms(), first / sequences.ms());
  }
  for (const auto& [context, sequences] : together) {
    std::printf("%ld together after %4ld: %7.3f ms, %.2f times as many tokens as one by one\n",
                long{kTogether}, long{context}, sequences.ms(),
                static_cast<double>(kTogether) * alone.at(context).ms() / sequences.ms());
  }
  std::printf("products alone: %7.3f ms; a step takes %.0f us more\n", product_time.ms(),
              1000 * (first - product_time.ms()));
  std::printf("reading the %.1f MB once: %7.3f ms, %.2f of a step\n",
              static_cast<double>(products.bytes()) / 1e6, stream_time.ms(),
              stream_time.ms() / first);
  std::printf("generate(): %7.3f ms a token, %.0f us more than a step\n", generate_time.ms(),
              1000 * (generate_time.ms() - alone.at(64).ms()));
  std::printf("from Model::load to the first token: %.0f ms\n", begin_time.ms());
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: quire_decode_bench MODEL [THREADS]\n";
    return 2;
  }
  return run(argv[1], argc > 2 ? std::atoi(argv[2]) : 2);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
