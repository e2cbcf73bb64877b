// SPDX-License-Identifier: Apache-2.0
// Checkpoints: GGUF, safetensors, the index of shards, config.json.
#include <quire/chat.h>
#include <quire/checkpoint.h>
#include <quire/error.h>
#include <quire/inspect.h>
#include <quire/tokenizer.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/fuzz/targets.h"

namespace quire::fuzz {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMostValues = 1 << 16;  // read of one tensor

template <typename Work>
bool refuses(const Work& work) {
  try {
    work();
    return false;
  } catch (const Error&) {
    return true;
  }
}

void read_some(const TensorInfo& tensor) {
  std::int64_t count = 1;
  for (const std::int64_t size : tensor.shape) count *= size;
  const std::int64_t row = tensor.shape.empty() ? 1 : tensor.shape.back();
  if (count == 0 || row > kMostValues) return;
  const std::int64_t rows = std::min(count, kMostValues) / row;
  std::vector<float> values(static_cast<std::size_t>(rows * row));
  dequantize_rows(tensor, 0, rows, values);
}

bool refuses_checkpoint(const fs::path& path) {
  const bool unreadable = refuses([&] {
    const auto checkpoint = Checkpoint::open(path);
    for (const TensorInfo& tensor : checkpoint->tensors()) read_some(tensor);
  });
  return refuses([&] { inspect(path); }) || unreadable;
}

// A model's folder of which one file is hostile and the others are well.
fs::path folder_with(std::string_view folder, std::string_view good, std::string_view name,
                     std::string_view input) {
  const fs::path path = scratch_folder() / folder;
  if (!fs::exists(path)) {
    fs::create_directories(path);
    const fs::path from = fs::path(QUIRE_TEST_DATA) / good;
    for (const auto& entry : fs::directory_iterator(from)) {
      if (entry.is_regular_file()) fs::copy_file(entry.path(), path / entry.path().filename());
    }
  }
  write_scratch(std::string(folder) + "/" + std::string(name), input);
  return path;
}

constexpr std::string_view kPlain = "malformed_config/ok-minimal";
constexpr std::string_view kSharded = "malformed/index/ok-sharded";

}  // namespace

bool gguf(std::string_view input) {
  const fs::path path = write_scratch("input.gguf", input);
  refuses([&] { Tokenizer::load(path)->encode("Hello <|im_end|> world, 3 times"); });
  refuses([&] { ChatTemplate::load(path); });
  return refuses_checkpoint(path);
}

bool safetensors(std::string_view input) {
  return refuses_checkpoint(folder_with("safetensors", kPlain, "model.safetensors", input));
}

bool shard_index(std::string_view input) {
  return refuses_checkpoint(folder_with("index", kSharded, "model.safetensors.index.json", input));
}

bool config(std::string_view input) {
  return refuses_checkpoint(folder_with("config", kPlain, "config.json", input));
}

}  // namespace quire::fuzz
