// SPDX-License-Identifier: Apache-2.0
// The same models on a GPU. Skipped, with libtorch's own reason, where there is none.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>
#include <quire/generator.h>
#include <quire/prefix_cache.h>
#include <quire/static_cache.h>

#include <map>
#include <memory>
#include <string>

#include "tests/generate/models.h"

namespace quire {
namespace {

using test::tiny_reference;

// In float32, loaded once; throws kUnsupported without a GPU.
std::shared_ptr<const Model> on_gpu(const std::string& name) {
  static std::map<std::string, std::shared_ptr<const Model>> loaded;
  auto& model = loaded[name];
  if (!model) {
    model = Model::load(std::string(QUIRE_TEST_DATA "/models/") + name,
                        {.dtype = DType::kF32, .device = Device::kCuda});
  }
  return model;
}

class Cuda : public ::testing::Test {
 protected:
  void SetUp() override {
    try {
      on_gpu("llama");
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kUnsupported) throw;
      GTEST_SKIP() << error.what();
    }
  }
};

Request request_of(const std::string& name, std::size_t prompt) {
  Request request;
  request.ids = tiny_reference(name).at("prompts")[prompt].get<TokenIds>();
  request.max_new_tokens = 12;
  request.ignore_eos = true;
  return request;
}

TokenIds expected(const std::string& name, std::size_t prompt) {
  return tiny_reference(name).at("greedy")[prompt].get<TokenIds>();
}

TEST_F(Cuda, EqualsTransformers) {
  for (const char* name : {"llama", "mistral-window", "gemma3", "qwen3-moe", "olmo2"}) {
    Generator generator(on_gpu(name), {.prefill_chunk = 16});
    for (std::size_t i = 0; i < tiny_reference(name).at("prompts").size(); ++i) {
      SCOPED_TRACE(std::string(name) + " prompt " + std::to_string(i));
      EXPECT_EQ(generator.generate(request_of(name, i)).ids, expected(name, i));
    }
  }
}

TEST_F(Cuda, AKnownPrefixIsReused) {
  PrefixCache prefixes({.block_size = 16});
  Generator generator(on_gpu("llama"), {.prefix_cache = &prefixes});
  for (const bool known : {false, true}) {
    const Result result = generator.generate(request_of("llama", 3));
    EXPECT_EQ(result.ids, expected("llama", 3));
    EXPECT_EQ(result.usage.cached_tokens > 0, known);
  }
}

TEST_F(Cuda, ASnapshotServesManyRequests) {
  Generator generator(on_gpu("llama"));
  Request whole = request_of("llama", 3);
  const Snapshot snapshot = generator.prefill(whole);
  for (int i = 0; i < 2; ++i) {
    Request request = request_of("llama", 3);
    request.snapshot = snapshot;
    request.ids = TokenIds{};
    EXPECT_EQ(generator.generate(request).ids, expected("llama", 3));
  }
}

TEST_F(Cuda, CachesAreCutAndForked) {
  const auto model = on_gpu("llama");
  Generator generator(model);
  DynamicCache cache(model->kv_spec());
  for (int i = 0; i < 2; ++i) {
    Request request = request_of("llama", 3);
    request.cache = &cache;
    EXPECT_EQ(generator.generate(request).ids, expected("llama", 3));
    cache.truncate(0);
  }
  StaticCache slab(model->kv_spec(), {.max_length = 256});
  Request request = request_of("llama", 3);
  request.cache = &slab;
  EXPECT_EQ(generator.generate(request).ids, expected("llama", 3));
}

}  // namespace
}  // namespace quire
