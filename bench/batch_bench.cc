// SPDX-License-Identifier: Apache-2.0
// quire_batch_bench MODEL [REQUESTS [THREADS]]: requests that run together against the same ones
// one after another: 64 new tokens each after prompts of 32. Rounds alternate; the best of each
// counts. With streams, every token goes through its own caller's callback.
#include <quire/quire.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kNewTokens = 64;
constexpr int kPromptTokens = 32;
constexpr int kRounds = 5;

quire::Request request_of(const quire::Model& model, int index) {
  quire::Request request;
  request.ids.emplace();
  for (int i = 0; i < kPromptTokens; ++i) {
    const std::int64_t id = 1000 + 97 * index + 31 * i;
    request.ids->push_back(static_cast<quire::TokenId>(id % model.config().vocab_size));
  }
  request.max_new_tokens = kNewTokens;
  request.sampling = quire::Sampling{};
  request.ignore_eos = true;
  request.prefix_cache = false;
  return request;
}

class Bench {
 public:
  Bench(std::shared_ptr<const quire::Model> model, int requests, int threads)
      : generator_(model, {.threads = threads}) {
    for (int i = 0; i < requests; ++i) requests_.push_back(request_of(*model, i));
    answers_.resize(requests_.size());
  }

  double one_after_another(bool stream) {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < requests_.size(); ++i) answer(i, stream);
    return seconds_since(start);
  }

  double together(bool stream) {
    const auto start = Clock::now();
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < requests_.size(); ++i) {
      callers.emplace_back([this, i, stream] { answer(i, stream); });
    }
    for (std::thread& caller : callers) caller.join();
    return seconds_since(start);
  }

  bool same() const { return same_; }

 private:
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  void answer(std::size_t i, bool stream) {
    const quire::StreamCallback callback = [](std::string_view) {
      return quire::Stream::kContinue;
    };
    quire::TokenIds ids =
        generator_.generate(requests_[i], stream ? callback : quire::StreamCallback()).ids;
    if (answers_[i].empty()) answers_[i] = ids;
    if (answers_[i] != ids) same_ = false;
  }

  quire::Generator generator_;
  std::vector<quire::Request> requests_;
  std::vector<quire::TokenIds> answers_;
  std::atomic<bool> same_ = true;
};

int run(int argc, char** argv) {
  const int requests = argc > 2 ? std::atoi(argv[2]) : 8;
  const int threads = argc > 3 ? std::atoi(argv[3]) : 0;
  Bench bench(quire::Model::load(argv[1]), requests, threads);
  bench.one_after_another(false);
  const double tokens = static_cast<double>(requests) * kNewTokens;
  for (const bool stream : {false, true}) {
    double alone = 1e9;
    double together = 1e9;
    for (int round = 0; round < kRounds; ++round) {
      alone = std::min(alone, bench.one_after_another(stream));
      together = std::min(together, bench.together(stream));
    }
    std::printf("%d requests%s: one after another %.1f tokens/s, together %.1f tokens/s: %.2fx\n",
                requests, stream ? ", streaming" : "", tokens / alone, tokens / together,
                alone / together);
  }
  std::printf("answers: %s\n", bench.same() ? "the same in every round" : "DIFFERENT");
  return bench.same() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 2 || argc > 4) {
    std::cerr << "usage: quire_batch_bench MODEL [REQUESTS [THREADS]]\n";
    return 2;
  }
  return run(argc, argv);
} catch (const std::exception& error) {
  std::cerr << error.what() << "\n";
  return 1;
}
