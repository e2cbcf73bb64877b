// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/inspect.h>

#include <limits>

#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;

std::int64_t elements_of(const Checkpoint& checkpoint) {
  std::int64_t count = 0;
  for (const TensorInfo& tensor : checkpoint.tensors()) {
    std::int64_t size = 1;
    for (const std::int64_t dimension : tensor.shape) size *= dimension;
    count += size;
  }
  return count;
}

TEST(Inspect, CountsWhatTheFilesHold) {
  for (const char* name : {"llama", "gemma3", "mixtral", "phi3", "gguf-qwen3moe.gguf"}) {
    SCOPED_TRACE(name);
    const ModelInfo info = inspect(kModels / name);
    const auto checkpoint = Checkpoint::open(kModels / name);
    EXPECT_EQ(info.parameters, elements_of(*checkpoint));
    EXPECT_EQ(info.tensors, static_cast<std::int64_t>(checkpoint->tensors().size()));
    std::int64_t bytes = 0;
    for (const auto& [type, of_type] : info.block_types) bytes += of_type;
    EXPECT_EQ(bytes, info.file_bytes);
  }
}

TEST(Inspect, SaysWhatLoadingGives) {
  for (const char* name : {"llama", "llama-bf16", "llama-f16", "gguf-qwen2.gguf"}) {
    SCOPED_TRACE(name);
    const ModelInfo info = inspect(kModels / name);
    const auto model = Model::load(kModels / name, {.threads = 1});
    EXPECT_EQ(info.dtype, model->dtype());
    EXPECT_EQ(info.kv_spec, model->kv_spec());
    EXPECT_EQ(info.config.architecture, model->config().architecture);
    EXPECT_EQ(info.tokenizer_kind.empty(), model->tokenizer() == nullptr);
    EXPECT_EQ(info.has_chat_template, model->chat_template() != nullptr);
  }
  EXPECT_EQ(inspect(kModels / "llama").dtype, DType::kF32);
  EXPECT_EQ(inspect(kModels / "llama-f16").dtype, DType::kBF16);
  EXPECT_EQ(inspect(kModels / "llama-f16", DType::kF16).dtype, DType::kF16);
}

TEST(Inspect, EstimatesMemoryByContext) {
  const ModelInfo full = inspect(kModels / "llama");
  const std::int64_t per_token = full.kv_spec.bytes_per_token();
  EXPECT_EQ(full.weight_bytes, 4 * full.parameters);
  EXPECT_EQ(estimated_bytes(full, 2000) - estimated_bytes(full, 1000), 1000 * per_token);
  EXPECT_GT(estimated_bytes(full, 1), full.weight_bytes);

  const ModelInfo windowed = inspect(kModels / "mistral-window");
  EXPECT_EQ(estimated_bytes(windowed, 2000), estimated_bytes(windowed, 1000));
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(estimated_bytes(full, kMost), kMost);
  EXPECT_EQ(estimated_bytes(windowed, kMost), estimated_bytes(windowed, 1000));
  EXPECT_EQ(inspect(kModels / "llama", DType::kBF16).kv_spec.bytes_per_token() * 2, per_token);
}

}  // namespace
}  // namespace quire
