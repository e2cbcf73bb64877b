// SPDX-License-Identifier: Apache-2.0
// Weights as the file has them: the same numbers, close logits, and a row's bits do not depend on
// anything beside it.
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include "gmock/gmock.h"
#include "kernels/thread_pool.h"
#include "model/cpu_matrix.h"
#include "model/model_files.h"
#include "model/weights.h"
#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;

// Rounding of activations to 8 bits and of KV to bfloat16, relative to the row's largest logit:
// these random models, with weights ten times larger than trained ones have, amplify it.
constexpr double kTolerance = 0.12;

class Native : public ::testing::TestWithParam<std::string> {
 protected:
  std::filesystem::path file() const { return kModels / (GetParam() + ".gguf"); }
  Golden golden() const { return read_golden(kModels / (GetParam() + ".json")); }
};

std::vector<const MatrixPlan*> matrices(const WeightsPlan& plan) {
  std::vector<const MatrixPlan*> all = {&plan.embedding, &plan.head};
  for (const LayerPlan& layer : plan.layers) {
    for (const MatrixPlan* matrix :
         {&layer.qkv, &layer.out, &layer.gate_up, &layer.down, &layer.router}) {
      all.push_back(matrix);
    }
    for (const ExpertPlan& expert : layer.experts) {
      all.push_back(&expert.gate_up);
      all.push_back(&expert.down);
    }
  }
  std::erase_if(all, [](const MatrixPlan* matrix) { return matrix->rows == 0; });
  return all;
}

TEST_P(Native, RowsAreThoseOfTheFile) {
  const ModelFiles files = open_model(file());
  ThreadPool pool(2);
  for (const MatrixPlan* plan : matrices(files.plan)) {
    const CpuMatrix matrix(*plan, DType::kNative, &pool, nullptr);
    EXPECT_EQ(matrix.bytes(), CpuMatrix::packed_bytes(*plan, DType::kNative));
    std::vector<float> found(static_cast<std::size_t>(plan->cols));
    std::vector<float> expected(found.size());
    for (std::int64_t i = 0; i < plan->rows; ++i) {
      matrix.row(i, found.data());
      read_rows(*plan, i, 1, expected.data());
      ASSERT_EQ(found, expected) << "row " << i;
    }
  }
}

TEST_P(Native, LogitsAreCloseToFloat32) {
  const auto model = load(file(), DType::kNative);
  EXPECT_EQ(model->dtype(), DType::kNative);
  EXPECT_EQ(model->kv_spec().dtype, DType::kBF16);
  const Golden expected = golden();
  double worst = 0;
  for (std::size_t i = 0; i < expected.prompts.size(); ++i) {
    DynamicCache cache(model->kv_spec());
    worst = std::max(worst, relative_error(last_logits(*model, expected.prompts[i], 0, cache),
                                           expected.last_logits[i]));
  }
  RecordProperty("relative_error", std::to_string(worst));
  EXPECT_LE(worst, kTolerance);
}

TEST_P(Native, NeitherChunksNorThreadsNorNeighboursMatter) {
  const auto model = load(file(), DType::kNative);
  ThreadPool three(3);
  std::vector<std::unique_ptr<DynamicCache>> caches;
  std::vector<std::vector<float>> alone;
  std::vector<Sequence> batch;
  const Golden golden = this->golden();
  for (const TokenIds& ids : golden.prompts) {
    DynamicCache cache(model->kv_spec());
    alone.push_back(last_logits(*model, ids, 0, cache));
    for (const std::int64_t chunk : {1, 3, 16}) {
      for (ThreadPool* pool : {static_cast<ThreadPool*>(nullptr), &three}) {
        DynamicCache fresh(model->kv_spec());
        EXPECT_EQ(last_logits(*model, ids, chunk, fresh, pool), alone.back());
      }
    }
    caches.push_back(std::make_unique<DynamicCache>(model->kv_spec()));
    batch.push_back({.tokens = ids, .cache = *caches.back()});
  }
  const at::Tensor together = model->forward(batch, &three);
  for (std::size_t i = 0; i < alone.size(); ++i) {
    EXPECT_EQ(row(together, static_cast<std::int64_t>(i)), alone[i]);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Native, ::testing::ValuesIn(gguf_names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(NativeDType, IsTheDefaultOfQuantisedFilesOnly) {
  const auto quantised = load(kModels / "llama-q4_k_m-mixture.gguf", DType::kAuto);
  EXPECT_EQ(quantised->dtype(), DType::kNative);
  EXPECT_EQ(load(kModels / "gguf-llama-rope-freqs.gguf", DType::kAuto)->dtype(), DType::kF32);
  EXPECT_EQ(load(kModels / "gguf-mistral.gguf", DType::kAuto)->dtype(), DType::kBF16);
  // A GPU has no kernels for blocks.
  const ModelFiles files = open_model(kModels / "llama-q4_k_m-mixture.gguf");
  EXPECT_EQ(resolve_dtype(DType::kAuto, files.plan, Device::kCuda), DType::kBF16);
}

TEST(NativeDType, HasAFingerprintOfItsOwn) {
  const std::filesystem::path file = kModels / "llama-q4_k_m-mixture.gguf";
  const std::string native = load(file, DType::kNative)->fingerprint();
  EXPECT_NE(native, load(file, DType::kBF16)->fingerprint());
  EXPECT_NE(native, load(file, DType::kF32)->fingerprint());
  EXPECT_EQ(native, load(file, DType::kAuto)->fingerprint());
}

TEST(NativeDType, IsNoEncodingOfKv) {
  KvSpec spec = load(kModels / "llama")->kv_spec();
  spec.dtype = DType::kNative;
  EXPECT_THAT(error_of([&] { DynamicCache cache(spec); }), ::testing::HasSubstr("native"));
}

}  // namespace
}  // namespace quire
