// SPDX-License-Identifier: Apache-2.0
// What the tests of src/model share: models on disk with reference outputs, and how to run them.
#pragma once

#include <ATen/core/Tensor.h>
#include <quire/error.h>
#include <quire/model.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "io/json.h"

namespace quire::testing {

inline const std::filesystem::path kModels = std::filesystem::path(QUIRE_TEST_DATA) / "models";

// Folders of tests/data/models, or files with one ending, by name.
std::vector<std::string> model_names();
std::vector<std::string> gguf_names();

// What transformers computed: see tests/data/models/make_models.py.
struct Golden {
  std::vector<TokenIds> prompts;
  std::vector<std::vector<float>> last_logits;
  std::vector<TokenIds> greedy;
};
Golden read_golden(const std::filesystem::path& json);

// A folder of its own under the system's temporary one, removed with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view text);

// The model folder `from` with another config, its other files linked.
void copy_model(const std::filesystem::path& from, const std::filesystem::path& to,
                const Json& config);

std::shared_ptr<const Model> load(const std::filesystem::path& path, DType dtype = DType::kF32);

// The logits of the last token, after reading `ids` in pieces of `chunk` tokens (0: whole).
std::vector<float> last_logits(const Model& model, const TokenIds& ids, std::int64_t chunk,
                               KvCache& cache, ThreadPool* pool = nullptr);

TokenId argmax(const std::vector<float>& logits);

// `count` greedy tokens after `ids`, whole prompt first.
TokenIds greedy(const Model& model, const TokenIds& ids, std::size_t count, std::int64_t chunk = 0);

// The largest difference, relative to the largest magnitude of `expected`.
double relative_error(const std::vector<float>& actual, const std::vector<float>& expected);

std::vector<float> row(const at::Tensor& logits, std::int64_t i);

// What the work's Error says; "no error" if it throws none.
std::string error_of(const std::function<void()>& work);

}  // namespace quire::testing
