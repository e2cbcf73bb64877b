// SPDX-License-Identifier: Apache-2.0
// prefix_ttft MODEL FOLDER [REDIS_URL|- [PLOT.svg|- [LENGTH...]]]: time to the first token with a
// known prefix, by where it is.
//
// For prefixes of LENGTH tokens (32 to 4,096) and 16 new tokens after each: computed from the
// start, from memory, from a file in FOLDER and from Redis. Beside them what a request of just the
// 16 tokens takes, what reading the prefix's bytes from a plain file takes, and what GETs of them,
// sent together, take. All in turns, the least of kRounds (from the start: of kColdRounds); JSON
// Lines. PLOT.svg: the share of the time that each saves.
#include <quire/generator.h>
#include <quire/model.h>
#include <quire/prefix_cache.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/cli/svg_plot.h"
#include "yardstick.h"

namespace {

using bench::Least;
using quire::TokenIds;

constexpr int kRounds = 15;
constexpr int kColdRounds = 3;
constexpr std::int64_t kNew = 16;
constexpr std::int64_t kBlock = 32;

quire::Request request_of(TokenIds ids, bool store) {
  quire::Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = 1;
  request.ignore_eos = true;
  request.sampling = quire::Sampling{};
  request.one_shot = !store;
  return request;
}

// A generator that knows the prefix, in memory or only in the tier behind it.
class Warm {
 public:
  Warm(const std::shared_ptr<const quire::Model>& model, const TokenIds& stored,
       const quire::PrefixCacheOptions& options, bool forget)
      : cache_(options), generator_(model, {.prefix_cache = &cache_}), forget_(forget) {
    generator_.generate(request_of(stored, true));
    cache_.flush();
  }

  void measure(const TokenIds& text) {
    if (forget_) cache_.clear();
    const quire::Result result = generator_.generate(request_of(text, false));
    time_.take(result.timings.ttft_ms);
    const quire::Reused& reused = result.cache.reused;
    const std::int64_t there =
        forget_ ? reused.disk + reused.remote : reused.memory + reused.copied;
    if (there < std::ssize(text) - kNew) std::fprintf(stderr, "%ld reused\n", long{there});
  }

  double ms() const { return time_.ms(); }

 private:
  quire::PrefixCache cache_;
  quire::Generator generator_;
  bool forget_;
  Least time_;
};

struct Row {
  std::int64_t prefix = 0;
  Least alone, cold, read, get;
  double memory_ms = 0;
  double disk_ms = 0;
  std::optional<double> redis_ms;
};

struct Places {
  std::filesystem::path folder;
  std::string redis;  // empty: none
};

Row measure(quire::Generator& cold, bench::RandomTokens& texts, const Places& places,
            std::int64_t length) {
  const auto& model = cold.model();
  const auto file = places.folder / "prefix_ttft.db";
  const auto plain = places.folder / "prefix_ttft.bytes";
  const TokenIds prefix = texts.next(length);
  const TokenIds stored = texts.after(prefix, kNew);
  std::vector<std::byte> bytes(
      static_cast<std::size_t>(length * model->kv_spec().bytes_per_token()), std::byte{7});
  bench::write_plainly(plain, bytes);
  Row row;
  row.prefix = length;
  Warm memory(model, stored, {.bytes = 1 << 30}, false);
  Warm disk(model, stored, {.bytes = 1 << 30, .disk_path = file}, true);
  std::optional<Warm> redis;
  std::optional<bench::PlainRedis> line;
  if (!places.redis.empty()) {
    redis.emplace(
        model, stored,
        quire::PrefixCacheOptions{
            .bytes = 1 << 30, .redis_url = places.redis, .redis_timeout = std::chrono::seconds(10)},
        true);
    line.emplace(places.redis);
    line->fill(length / kBlock, kBlock * model->kv_spec().bytes_per_token());
  }
  for (int round = 0; round < kRounds; ++round) {
    const TokenIds text = texts.after(prefix, kNew);
    row.alone.take(cold.generate(request_of(texts.next(kNew), false)).timings.ttft_ms);
    memory.measure(text);
    disk.measure(text);
    row.read.measure([&] { bench::read_plainly(plain, bytes); });
    if (redis) {
      redis->measure(text);
      row.get.measure([&] { line->get_all(); });
    }
    if (round >= kColdRounds) continue;
    row.cold.take(cold.generate(request_of(text, false)).timings.ttft_ms);
  }
  row.memory_ms = memory.ms();
  row.disk_ms = disk.ms();
  if (redis) {
    row.redis_ms = redis->ms();
    line->remove_all();
  }
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(file.string() + ending);
  std::filesystem::remove(plain);
  return row;
}

void print(const Row& row) {
  std::printf(
      "{\"prefix\": %ld, \"only_new_ms\": %.2f, \"cold_ms\": %.2f, \"memory_ms\": %.2f, "
      "\"times_only_new\": %.2f, \"disk_ms\": %.2f, \"read_ms\": %.2f, \"disk_allowed_ms\": %.2f",
      static_cast<long>(row.prefix), row.alone.ms(), row.cold.ms(), row.memory_ms,
      row.memory_ms / row.alone.ms(), row.disk_ms, row.read.ms(),
      row.memory_ms + 2 * row.read.ms());
  if (row.redis_ms) {
    std::printf(", \"redis_ms\": %.2f, \"get_ms\": %.2f, \"redis_allowed_ms\": %.2f", *row.redis_ms,
                row.get.ms(), row.memory_ms + 2 * row.get.ms());
  }
  std::printf("}\n");
  std::fflush(stdout);
}

void plot(const std::vector<Row>& rows, const std::string& file) {
  cli::Plot plot{.title = "Time to the first token saved by a known prefix",
                 .x_label = "tokens of the prefix, before 16 new ones",
                 .y_label = "saved",
                 .lines = {{"memory", {}}, {"SQLite file", {}}, {"Redis", {}}}};
  for (const Row& row : rows) {
    const auto add = [&](std::size_t line, double ms) {
      plot.lines[line].points.emplace_back(static_cast<double>(row.prefix),
                                           std::max(1 - ms / row.cold.ms(), 0.0));
    };
    add(0, row.memory_ms);
    add(1, row.disk_ms);
    if (row.redis_ms) add(2, *row.redis_ms);
  }
  if (plot.lines[2].points.empty()) plot.lines.pop_back();
  cli::write_svg(file, plot);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto model = quire::Model::load(argv[1]);
  const std::string redis = argc > 3 ? argv[3] : "-";
  const Places places{argv[2], redis == "-" ? "" : redis};
  bench::RandomTokens texts(model->config().vocab_size);
  quire::Generator cold(model, {.prefix_cache_bytes = 0});
  std::vector<Row> rows;
  std::vector<std::int64_t> lengths;
  for (int i = 5; i < argc; ++i) lengths.push_back(std::atoll(argv[i]));
  if (lengths.empty()) lengths = {32, 64, 128, 256, 512, 1024, 2048, 4096};
  for (const std::int64_t length : lengths) {
    if (length + kNew + 1 > model->config().context) break;
    rows.push_back(measure(cold, texts, places, length));
    print(rows.back());
  }
  if (argc > 4 && std::string(argv[4]) != "-") plot(rows, argv[4]);
}
