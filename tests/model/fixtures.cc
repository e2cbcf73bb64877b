// SPDX-License-Identifier: Apache-2.0
#include "tests/model/fixtures.h"

#include <quire/dynamic_cache.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <span>

namespace quire::testing {

namespace {

std::vector<std::string> names(const std::function<bool(const std::filesystem::path&)>& wanted) {
  std::vector<std::string> result;
  for (const auto& entry : std::filesystem::directory_iterator(kModels)) {
    if (wanted(entry.path())) result.push_back(entry.path().stem());
  }
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

std::vector<std::string> model_names() {
  return names([](const auto& path) { return std::filesystem::exists(path / "golden.json"); });
}

std::vector<std::string> gguf_names() {
  return names([](const auto& path) { return path.extension() == ".gguf"; });
}

Golden read_golden(const std::filesystem::path& json) {
  const Json file = read_json_file(json);
  return {file.at("prompts").get<std::vector<TokenIds>>(),
          file.at("last_logits").get<std::vector<std::vector<float>>>(),
          file.at("greedy").get<std::vector<TokenIds>>()};
}

ScratchFolder::ScratchFolder() {
  std::string pattern = std::filesystem::temp_directory_path() / "quire-model-XXXXXX";
  if (mkdtemp(pattern.data()) == nullptr) throw Error(ErrorCode::kIo, pattern, "mkdtemp failed");
  path_ = pattern;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

void copy_model(const std::filesystem::path& from, const std::filesystem::path& to,
                const Json& config) {
  std::filesystem::create_directories(to);
  for (const auto& entry : std::filesystem::directory_iterator(from)) {
    const std::filesystem::path copy = to / entry.path().filename();
    std::filesystem::remove(copy);
    if (copy.filename() != "config.json") std::filesystem::create_symlink(entry.path(), copy);
  }
  write_file(to / "config.json", config.dump());
}

std::shared_ptr<const Model> load(const std::filesystem::path& path, DType dtype) {
  return Model::load(path, {.dtype = dtype, .threads = 1});
}

std::vector<float> row(const at::Tensor& logits, std::int64_t i) {
  const float* first = logits.const_data_ptr<float>() + i * logits.size(1);
  return {first, first + logits.size(1)};
}

std::vector<float> last_logits(const Model& model, const TokenIds& ids, std::int64_t chunk,
                               KvCache& cache, ThreadPool* pool) {
  const std::size_t step = chunk == 0 ? ids.size() : static_cast<std::size_t>(chunk);
  for (std::size_t at = 0;; at += step) {
    const std::size_t count = std::min(step, ids.size() - at);
    const bool is_last = at + count == ids.size();
    const Sequence piece{.tokens = std::span(ids).subspan(at, count),
                         .cache = cache,
                         .logits = is_last ? 1 : 0,
                         .rope_length = cache.length() - static_cast<std::int64_t>(at) +
                                        static_cast<std::int64_t>(ids.size())};
    const at::Tensor logits = model.forward({&piece, 1}, pool);
    if (is_last) return row(logits, 0);
  }
}

TokenId argmax(const std::vector<float>& logits) {
  return static_cast<TokenId>(std::max_element(logits.begin(), logits.end()) - logits.begin());
}

TokenIds greedy(const Model& model, const TokenIds& ids, std::size_t count, std::int64_t chunk) {
  DynamicCache cache(model.kv_spec());
  TokenIds next = {argmax(last_logits(model, ids, chunk, cache))};
  while (next.size() < count) {
    next.push_back(argmax(last_logits(model, {next.back()}, 0, cache)));
  }
  return next;
}

double relative_error(const std::vector<float>& actual, const std::vector<float>& expected) {
  double largest = 0;
  double difference = actual.size() == expected.size() ? 0 : HUGE_VAL;
  for (std::size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
    largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
    difference = std::max(
        difference, std::abs(static_cast<double>(actual[i]) - static_cast<double>(expected[i])));
  }
  return difference / largest;
}

std::string error_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace quire::testing
