// SPDX-License-Identifier: Apache-2.0
#include "bench_measure.h"

#include <quire/dynamic_cache.h>
#include <quire/error.h>
#include <quire/prefix_cache.h>
#include <quire/quantized_cache.h>
#include <quire/sliding_cache.h>
#include <quire/snapshot.h>
#include <quire/static_cache.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>
#include <random>
#include <system_error>
#include <utility>

namespace cli {
namespace {

namespace fs = std::filesystem;
using quire::Error;
using quire::ErrorCode;

constexpr std::int64_t kTail = 8;    // tokens that are new after a known prefix
constexpr std::int64_t kStart = 16;  // tokens that an answer begins after

// A folder for the snapshot's file, removed again.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "quire-bench-XXXXXX").string();
    if (!mkdtemp(pattern.data())) throw Error(ErrorCode::kIo, pattern, "cannot make a folder");
    path_ = pattern;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  fs::path file() const { return path_ / "snapshot"; }

 private:
  fs::path path_;
};

double ms_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

quire::GeneratorOptions options_for(const quire::Model& model, int threads, const BenchPlan& plan) {
  const std::int64_t longest = plan.prefixes.back() + kTail;
  return {.threads = threads,
          .prefix_cache_bytes = std::max(quire::GeneratorOptions{}.prefix_cache_bytes,
                                         4 * longest * model.kv_spec().bytes_per_token())};
}

}  // namespace

BenchPlan fitted(BenchPlan plan, std::int64_t context) {
  const auto fit = [&](std::int64_t& tokens, std::int64_t besides, const char* what) {
    if (tokens < 1) {
      throw Error(ErrorCode::kInvalidArgument, what,
                  "expected at least 1 token, found " + std::to_string(tokens));
    }
    tokens = std::clamp<std::int64_t>(context - besides, 1, tokens);
  };
  fit(plan.prefill, 1, "--prefill");
  fit(plan.decode, kStart, "--new-tokens");
  for (std::int64_t& prefix : plan.prefixes) fit(prefix, kTail + 1, "--prefixes");
  std::sort(plan.prefixes.begin(), plan.prefixes.end());
  plan.prefixes.erase(std::unique(plan.prefixes.begin(), plan.prefixes.end()), plan.prefixes.end());
  return plan;
}

BenchMeasurements::BenchMeasurements(std::shared_ptr<const quire::Model> model, int threads,
                                     BenchPlan plan)
    : model_(std::move(model)),
      plan_(std::move(plan)),
      generator_(model_, options_for(*model_, threads, plan_)) {}

std::vector<BenchMeasurements::Step> BenchMeasurements::steps() {
  return {{"prefill", [this] { return prefill(); }},
          {"decode", [this] { return decode(); }},
          {"ttft", [this] { return first_token(); }},
          {"fork", [this] { return fork(); }},
          {"snapshot", [this] { return snapshot(); }},
          {"kv_bytes_per_token", [this] { return kv_bytes(); }}};
}

Json BenchMeasurements::prefill() {
  const double ms = best([&] {
    quire::Request once = request(text(plan_.prefill, 1), 1);
    once.prefix_cache = false;
    return generator_.generate(once).timings.prefill_ms;
  });
  return {{"tokens", plan_.prefill},
          {"tokens_per_s", static_cast<double>(plan_.prefill) * 1000 / ms}};
}

Json BenchMeasurements::decode() {
  const double ms_per_token = best([&] {
    quire::Request once = request(text(kStart, 2), plan_.decode);
    once.prefix_cache = false;
    return 1000 / generator_.generate(once).timings.decode_tokens_per_s;
  });
  return {{"tokens", plan_.decode}, {"after", kStart}, {"tokens_per_s", 1000 / ms_per_token}};
}

Json BenchMeasurements::first_token() {
  Json rows = Json::array();
  for (const std::int64_t prefix : plan_.prefixes) {
    unsigned tail = 100;
    std::int64_t cached = 0;
    const auto ask = [&] {
      quire::TokenIds ids = text(prefix, 3);
      const quire::TokenIds more = text(kTail, ++tail);
      ids.insert(ids.end(), more.begin(), more.end());
      const quire::Result result = generator_.generate(request(std::move(ids), 1));
      cached = result.usage.cached_tokens;
      return result.timings.ttft_ms;
    };
    const double cold = best([&] {
      generator_.prefix_cache()->clear();
      return ask();
    });
    const double warm = best(ask);
    rows.push_back({{"prefix", prefix},
                    {"prompt", prefix + kTail},
                    {"cold_ms", cold},
                    {"warm_ms", warm},
                    {"cached_tokens", cached}});
  }
  return rows;
}

Json BenchMeasurements::fork() {
  const quire::KvCache& cache = filled();
  std::unique_ptr<quire::KvCache> made;
  const double fork = best([&] { return ms_of([&] { made = cache.fork(); }); });
  const double copy = best([&] { return ms_of([&] { made = cache.clone(); }); });
  return {{"tokens", cache.length()},
          {"bytes", cache.bytes()},
          {"fork_us", fork * 1000},
          {"copy_us", copy * 1000}};
}

Json BenchMeasurements::snapshot() {
  const ScratchFolder scratch;
  const quire::PrefixModel about = {.fingerprint = model_->fingerprint(),
                                    .kv = model_->kv_spec(),
                                    .tokenizer = model_->tokenizer_fingerprint()};
  quire::Snapshot snapshot;
  const double freeze = best([&] {
    quire::SnapshotParts parts = {.model = about, .ids = text(plan_.prefixes.back(), 3)};
    return ms_of([&] {
      parts.cache = filled().fork();
      snapshot = quire::Snapshot(std::move(parts));
    });
  });
  const double save = best([&] { return ms_of([&] { snapshot.save(scratch.file()); }); });
  const auto load = [&](quire::Verify verify) {
    return best([&] {
      return ms_of([&] { quire::Snapshot::load(scratch.file(), *model_, {.verify = verify}); });
    });
  };
  const double checked = load(quire::Verify::kAtLoad);
  return {{"tokens", plan_.prefixes.back()},
          {"bytes", fs::file_size(scratch.file())},
          {"freeze_us", freeze * 1000},
          {"save_ms", save},
          {"load_ms", checked},
          {"load_verify_on_use_ms", load(quire::Verify::kOnUse)}};
}

Json BenchMeasurements::kv_bytes() {
  const quire::KvSpec& spec = model_->kv_spec();
  const std::int64_t tokens = plan_.prefixes.back();
  Json rows = Json::array();
  const auto show = [&](Json row, std::unique_ptr<quire::KvCache> cache) {
    quire::Request once = request(text(tokens, 3), 1);
    once.prefix_cache = false;
    const std::int64_t bytes = generator_.prefill(once, std::move(cache)).bytes();
    row["tokens"] = tokens;
    row["bytes_per_token"] = static_cast<double>(bytes) / static_cast<double>(tokens);
    rows.push_back(std::move(row));
  };
  show({{"kv", "dynamic"}}, std::make_unique<quire::DynamicCache>(spec));
  show({{"kv", "static"}},
       std::make_unique<quire::StaticCache>(spec, quire::StaticCacheOptions{tokens}));
  if (model_->device() == quire::Device::kCpu) {
    for (const int nbits : {8, 4, 2}) {
      show({{"kv", "quantized"}, {"nbits", nbits}},
           std::make_unique<quire::QuantizedCache>(spec, quire::QuantizedCacheOptions{nbits}));
    }
  }
  const std::int64_t window = std::max<std::int64_t>(1, tokens / 4);
  show({{"kv", "sliding"}, {"window", window}},
       std::make_unique<quire::SlidingCache>(spec, quire::SlidingCacheOptions{window}));
  return rows;
}

quire::Request BenchMeasurements::request(quire::TokenIds ids, std::int64_t new_tokens) const {
  quire::Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = new_tokens;
  request.sampling = quire::Sampling{};
  request.ignore_eos = true;
  return request;
}

quire::TokenIds BenchMeasurements::text(std::int64_t tokens, unsigned seed) const {
  std::minstd_rand random(seed);
  const auto size = static_cast<std::uint64_t>(model_->config().vocab_size);
  quire::TokenIds ids(static_cast<std::size_t>(tokens));
  for (quire::TokenId& id : ids) id = static_cast<quire::TokenId>(random() % size);
  return ids;
}

double BenchMeasurements::best(const std::function<double()>& time) const {
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < plan_.repeats; ++i) least = std::min(least, time());
  return least;
}

quire::KvCache& BenchMeasurements::filled() {
  if (!filled_) {
    auto cache = std::make_unique<quire::DynamicCache>(model_->kv_spec());
    quire::Request once = request(text(plan_.prefixes.back(), 3), 1);
    once.cache = cache.get();
    generator_.generate(once);
    filled_ = std::move(cache);
  }
  return *filled_;
}

}  // namespace cli
