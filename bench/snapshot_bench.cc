// SPDX-License-Identifier: Apache-2.0
// snapshot_bench MODEL FOLDER [TOKENS]: what keeping a computed prompt in a file costs.
//
// A prompt of TOKENS tokens (2,000) is saved to and loaded from a file in FOLDER. Beside it: a
// plain write and sync of as many bytes; a plain read of the file, which is in the page cache, into
// memory; and one step of decoding after so many tokens. All in turns, the least of kRounds each;
// JSON Lines.
#include <quire/generator.h>
#include <quire/model.h>
#include <quire/snapshot.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "yardstick.h"

namespace {

namespace fs = std::filesystem;
using bench::Least;

constexpr int kRounds = 15;

quire::Request request_of(quire::TokenIds ids, quire::Snapshot snapshot, std::int64_t tokens) {
  quire::Request request;
  request.ids = std::move(ids);
  request.max_new_tokens = tokens;
  request.ignore_eos = true;
  request.sampling = quire::Sampling{};
  request.snapshot = std::move(snapshot);
  return request;
}

void measure_saving(const quire::Snapshot& snapshot, const fs::path& file) {
  snapshot.save(file);
  std::vector<std::byte> bytes(fs::file_size(file));
  bench::read_plainly(file, bytes);
  const fs::path other = file.string() + ".plain";
  Least save;
  Least plain;
  for (int round = 0; round < kRounds; ++round) {
    fs::remove(file);
    save.measure([&] { snapshot.save(file); });
    plain.measure([&] { bench::write_plainly(other, bytes); });
    fs::remove(other);
  }
  std::printf(
      "{\"file_bytes\": %zu, \"kv_bytes\": %lld, \"over_kv_percent\": %.3f, \"save_ms\": %.1f, "
      "\"plain_write_ms\": %.1f, \"share_of_plain_speed\": %.2f}\n",
      bytes.size(), static_cast<long long>(snapshot.bytes()),
      100.0 * static_cast<double>(bytes.size()) / static_cast<double>(snapshot.bytes()) - 100,
      save.ms(), plain.ms(), plain.ms() / save.ms());
}

void measure_loading(quire::Generator& generator, const fs::path& file) {
  const quire::Model& model = *generator.model();
  const auto first_token = [&](quire::Verify verify, quire::TokenIds more) {
    const auto snapshot = quire::Snapshot::load(file, model, {.verify = verify});
    generator.generate(request_of(std::move(more), snapshot, 1));
  };
  std::vector<std::byte> bytes(fs::file_size(file));
  const auto held = quire::Snapshot::load(file, model);
  Least read, load, at_load, on_use, no_pass, step;
  for (int round = 0; round < kRounds; ++round) {
    read.measure([&] { bench::read_plainly(file, bytes); });
    load.measure([&] { quire::Snapshot::load(file, model); });
    at_load.measure([&] { first_token(quire::Verify::kAtLoad, {500}); });
    on_use.measure([&] { first_token(quire::Verify::kOnUse, {500}); });
    no_pass.measure([&] { first_token(quire::Verify::kAtLoad, {}); });
    constexpr int kSteps = 4;
    const auto answer = generator.generate(request_of({500}, held, kSteps + 1));
    step.take(answer.timings.decode_ms / kSteps);
  }
  const double allowed = 3 * (read.ms() + step.ms());
  std::printf(
      "{\"read_ms\": %.2f, \"decode_step_ms\": %.2f, \"allowed_ms\": %.2f, \"load_ms\": %.2f, "
      "\"first_token_ms\": %.2f, \"verified_on_use_ms\": %.2f, \"no_new_token_ms\": %.2f, "
      "\"of_allowed\": %.2f}\n",
      read.ms(), step.ms(), allowed, load.ms(), at_load.ms(), on_use.ms(), no_pass.ms(),
      at_load.ms() / allowed);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  const auto model = quire::Model::load(argv[1]);
  const std::int64_t tokens = argc > 3 ? std::atoll(argv[3]) : 2000;
  const fs::path file = fs::path(argv[2]) / "snapshot_bench.quire";
  quire::Generator generator(model, {.prefix_cache_bytes = 0});
  bench::RandomTokens texts(model->config().vocab_size);
  const auto snapshot = generator.prefill(request_of(texts.next(tokens), {}, 1));
  std::printf("{\"tokens\": %lld, \"kv\": \"%s\"}\n", static_cast<long long>(tokens),
              std::string(snapshot.kind()).c_str());
  measure_saving(snapshot, file);
  measure_loading(generator, file);
  fs::remove(file);
}
