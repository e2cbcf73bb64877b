// SPDX-License-Identifier: Apache-2.0
#include "tests/crash/caches.h"

#include <quire/embedder.h>

#include <functional>
#include <random>
#include <vector>

namespace quire::crash {
namespace {

namespace fs = std::filesystem;

constexpr Number kFamilies = 7;
constexpr std::int64_t kBlock = 16;
constexpr std::int64_t kBlocksInMemory = 40;

// A direction of its own for each text: none is near another, so that only equal ones are answered
// alike.
class Directions final : public Embedder {
 public:
  std::int64_t dimension() const override { return 32; }
  std::string name() const override { return "directions"; }
  std::vector<float> embed(std::string_view text) const override {
    std::mt19937 random(static_cast<std::uint32_t>(std::hash<std::string_view>()(text)));
    std::normal_distribution<float> normal;
    std::vector<float> values(32);
    for (float& value : values) value = normal(random);
    return values;
  }
};

std::string letters(Number seed, std::size_t least, std::size_t most) {
  std::mt19937 random(seed);
  std::string text(least + random() % (most - least), ' ');
  for (char& letter : text) letter = static_cast<char>(' ' + random() % 95);
  return text;
}

}  // namespace

std::string question(Number number) {
  const Number family = number % kFamilies;
  return letters(family, 30, 140) + " " + std::to_string(number) +
         letters(number + kFamilies, 5, 60);
}

Request request_for(std::string prompt) {
  Request request;
  request.prompt = std::move(prompt);
  request.max_new_tokens = 48;
  request.sampling = Sampling{};
  request.eos.emplace();
  for (TokenId id = 2; id < 259; id += 12) request.eos->push_back(id);
  return request;
}

std::shared_ptr<const Model> load_model() {
  return Model::load(QUIRE_TEST_DATA "/chat", {.dtype = DType::kF32, .threads = 1});
}

bool has_snapshot(Number number) { return number % 3 == 0; }

fs::path snapshot_file(const fs::path& folder, Number number) {
  return folder / ("snapshot-" + std::to_string(number % kFamilies));
}

fs::path pages_file(const fs::path& folder) { return folder / "pages.sqlite"; }
fs::path answers_file(const fs::path& folder) { return folder / "answers.sqlite"; }

Caches::Caches(const fs::path& folder, const std::shared_ptr<const Model>& model)
    : prefixes({.bytes = kBlocksInMemory * kBlock * model->kv_spec().bytes_per_token(),
                .block_size = kBlock,
                .disk_path = pages_file(folder)}),
      answers(std::make_shared<Directions>(), {.path = answers_file(folder)}),
      generator(model, {.threads = 1, .prefix_cache = &prefixes, .semantic_cache = &answers}) {}

}  // namespace quire::crash
