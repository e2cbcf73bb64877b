// SPDX-License-Identifier: Apache-2.0
// prefix_ttft MODEL FOLDER [REDIS_URL]: time to the first token with a known prefix, by where it
// is.
//
// For prefixes of several lengths and 16 new tokens after each: computed from the start, from
// memory, from a file in FOLDER and from Redis; beside them what a request of just the 16 tokens
// takes, and reading the prefix's bytes from a plain file. Medians of kRepeats; JSON Lines.
#include <quire/generator.h>
#include <quire/model.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace {

using quire::TokenId;
using quire::TokenIds;

constexpr int kRepeats = 9;
constexpr std::int64_t kNew = 16;

class Texts {
 public:
  explicit Texts(std::int64_t vocab) : vocab_(vocab) {}
  TokenIds next(std::int64_t count) {
    TokenIds ids;
    for (std::int64_t i = 0; i < count; ++i) {
      ids.push_back(static_cast<TokenId>(100 + random_() % static_cast<unsigned>(vocab_ - 200)));
    }
    return ids;
  }
  TokenIds after(TokenIds prefix) {
    const TokenIds more = next(kNew);
    prefix.insert(prefix.end(), more.begin(), more.end());
    return prefix;
  }

 private:
  std::int64_t vocab_;
  std::mt19937 random_{1};
};

quire::Request request_of(TokenIds ids, bool store) {
  quire::Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = 1;
  request.ignore_eos = true;
  request.sampling = quire::Sampling{};
  request.one_shot = !store;
  return request;
}

double median(const std::function<double()>& once) {
  std::vector<double> times;
  for (int i = 0; i < kRepeats; ++i) times.push_back(once());
  std::ranges::sort(times);
  return times[kRepeats / 2];
}

double read_ms(const std::string& file, std::int64_t bytes) {
  {
    std::ofstream out(file, std::ios::binary);
    const std::vector<char> data(static_cast<std::size_t>(bytes), 'x');
    out.write(data.data(), bytes);
  }
  std::vector<char> data(static_cast<std::size_t>(bytes));
  const double ms = median([&] {
    const auto start = std::chrono::steady_clock::now();
    std::ifstream in(file, std::ios::binary);
    in.rdbuf()->pubsetbuf(nullptr, 0);
    in.read(data.data(), bytes);
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
        .count();
  });
  std::filesystem::remove(file);
  return ms;
}

// The prefix is stored once; then each repeat asks for new tokens after it, with memory emptied
// before each where a tier is meant.
double warm_ms(const std::shared_ptr<const quire::Model>& model, Texts& texts,
               const TokenIds& prefix, const quire::PrefixCacheOptions& options, bool forget) {
  quire::PrefixCache cache(options);
  quire::Generator generator(model, {.prefix_cache = &cache});
  generator.generate(request_of(texts.after(prefix), true));
  cache.flush();
  return median([&] {
    if (forget) cache.clear();
    const quire::Result result = generator.generate(request_of(texts.after(prefix), false));
    const quire::Reused& reused = result.cache.reused;
    const std::int64_t there = forget ? reused.disk + reused.remote : reused.memory + reused.copied;
    if (there < std::ssize(prefix))
      std::fprintf(stderr, "only %ld reused\n", static_cast<long>(there));
    return result.timings.ttft_ms;
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto model = quire::Model::load(argv[1]);
  const std::string folder = argv[2];
  const std::string redis = argc > 3 ? argv[3] : "";
  Texts texts(model->config().vocab_size);
  quire::Generator cold(model, {.prefix_cache_bytes = 0});
  cold.generate(request_of(texts.next(64), false));
  const double alone =
      median([&] { return cold.generate(request_of(texts.next(kNew), false)).timings.ttft_ms; });
  for (const std::int64_t length : {32, 64, 128, 256, 512, 1024, 2048, 4096}) {
    if (length + kNew + 1 > model->config().context) break;
    const TokenIds prefix = texts.next(length);
    const std::int64_t bytes = length * model->kv_spec().bytes_per_token();
    const double computed = median(
        [&] { return cold.generate(request_of(texts.after(prefix), false)).timings.ttft_ms; });
    std::printf("{\"prefix\": %ld, \"only_new_ms\": %.2f, \"cold_ms\": %.2f, \"memory_ms\": %.2f",
                static_cast<long>(length), alone, computed,
                warm_ms(model, texts, prefix, {.bytes = 1 << 30}, false));
    const std::string file = folder + "/prefix_ttft.db";
    std::printf(", \"disk_ms\": %.2f, \"read_ms\": %.2f",
                warm_ms(model, texts, prefix, {.bytes = 1 << 30, .disk_path = file}, true),
                read_ms(folder + "/prefix_ttft.bytes", bytes));
    std::filesystem::remove(file);
    if (!redis.empty()) {
      std::printf(
          ", \"redis_ms\": %.2f",
          warm_ms(model, texts, prefix,
                  {.bytes = 1 << 30, .redis_url = redis, .redis_timeout = std::chrono::seconds(10)},
                  true));
    }
    std::printf("}\n");
    std::fflush(stdout);
  }
}
