// SPDX-License-Identifier: Apache-2.0
// What the forward pass promises: a row's logits have the same bits whatever else is in the batch,
// however the text is cut and whoever computes it; a failed pass leaves no trace.
#include <ATen/ops/cat.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <quire/dynamic_cache.h>

#include <stdexcept>
#include <thread>

#include "kernels/thread_pool.h"
#include "tests/model/fixtures.h"

namespace quire {
namespace {

using namespace quire::testing;
using ::testing::HasSubstr;

class Invariance : public ::testing::TestWithParam<std::tuple<std::string, DType>> {
 protected:
  std::shared_ptr<const Model> model() const {
    return load(kModels / std::get<0>(GetParam()), std::get<1>(GetParam()));
  }
  std::vector<TokenIds> prompts() const {
    return read_golden(kModels / std::get<0>(GetParam()) / "golden.json").prompts;
  }
};

std::vector<float> alone(const Model& model, const TokenIds& ids, std::int64_t chunk = 0,
                         ThreadPool* pool = nullptr) {
  DynamicCache cache(model.kv_spec());
  return last_logits(model, ids, chunk, cache, pool);
}

TEST_P(Invariance, ChunksDoNotMatter) {
  const auto model = this->model();
  for (const TokenIds& ids : prompts()) {
    const std::vector<float> whole = alone(*model, ids);
    for (const std::int64_t chunk : {1, 3, 16}) EXPECT_EQ(alone(*model, ids, chunk), whole);
  }
}

TEST_P(Invariance, ThreadsDoNotMatter) {
  const auto model = this->model();
  ThreadPool two(2);
  ThreadPool three(3);
  for (const TokenIds& ids : prompts()) {
    const std::vector<float> expected = alone(*model, ids);
    EXPECT_EQ(alone(*model, ids, 0, &two), expected);
    EXPECT_EQ(alone(*model, ids, 5, &three), expected);
  }
}

TEST_P(Invariance, NeighboursDoNotMatter) {
  const auto model = this->model();
  const std::vector<TokenIds> prompts = this->prompts();
  std::vector<std::unique_ptr<DynamicCache>> caches;
  std::vector<Sequence> batch;
  for (const TokenIds& ids : prompts) {
    caches.push_back(std::make_unique<DynamicCache>(model->kv_spec()));
    batch.push_back({.tokens = ids, .cache = *caches.back()});
  }
  const at::Tensor read = model->forward(batch);
  std::vector<TokenIds> next;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const std::vector<float> logits = row(read, static_cast<std::int64_t>(i));
    EXPECT_EQ(logits, alone(*model, prompts[i]));
    next.push_back({argmax(logits)});
  }
  // And one token each, at their different lengths.
  batch.clear();
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    batch.push_back({.tokens = next[i], .cache = *caches[i]});
  }
  const at::Tensor decoded = model->forward(batch);
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    DynamicCache cache(model->kv_spec());
    last_logits(*model, prompts[i], 0, cache);
    EXPECT_EQ(row(decoded, static_cast<std::int64_t>(i)), last_logits(*model, next[i], 0, cache));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Invariance,
                         ::testing::Combine(::testing::ValuesIn(model_names()),
                                            ::testing::Values(DType::kF32, DType::kBF16)),
                         [](const auto& test) {
                           std::string name = std::get<0>(test.param) + '_' +
                                              std::string(to_string(std::get<1>(test.param)));
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

class Decoding : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { model_ = load(kModels / "llama"); }
  static void TearDownTestSuite() { model_.reset(); }

  static inline std::shared_ptr<const Model> model_;
  const TokenIds ids_ = {5, 9, 13, 21, 34, 55, 3};
};

TEST_F(Decoding, LogitsOfTheLastTokensAreThoseOfEveryPrefix) {
  DynamicCache cache(model_->kv_spec());
  const Sequence sequence{.tokens = ids_, .cache = cache, .logits = 4};
  const at::Tensor logits = model_->forward({&sequence, 1});
  ASSERT_EQ(logits.sizes(), (std::vector<std::int64_t>{4, model_->config().vocab_size}));
  for (std::int64_t i = 0; i < 4; ++i) {
    const TokenIds prefix(ids_.begin(), ids_.end() - 3 + i);
    EXPECT_EQ(row(logits, i), alone(*model_, prefix));
  }
}

TEST_F(Decoding, NoLogitsAskedNoneGiven) {
  DynamicCache cache(model_->kv_spec());
  const Sequence sequence{.tokens = ids_, .cache = cache, .logits = 0};
  EXPECT_EQ(model_->forward({&sequence, 1}).size(0), 0);
  EXPECT_EQ(cache.length(), 7);
  EXPECT_EQ(model_->forward({}).size(0), 0);
}

TEST_F(Decoding, CachedStepsEqualReadingAllAgain) {
  DynamicCache cache(model_->kv_spec());
  TokenIds ids = ids_;
  std::vector<float> cached = last_logits(*model_, ids, 0, cache);
  for (int step = 0; step < 64; ++step) {
    ids.push_back(argmax(cached));
    cached = last_logits(*model_, {ids.back()}, 0, cache);
    EXPECT_EQ(cached, alone(*model_, ids));
  }
}

TEST_F(Decoding, MayRunOnManyThreadsAtOnce) {
  const std::vector<float> expected = alone(*model_, ids_);
  std::vector<std::vector<float>> seen(4);
  std::vector<std::thread> threads;
  for (std::vector<float>& logits : seen) {
    threads.emplace_back([&logits, this] { logits = alone(*model_, ids_, 2); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const std::vector<float>& logits : seen) EXPECT_EQ(logits, expected);
}

// A user's own cache, on the base class's attention; throws in the middle of a pass if told to.
class OwnCache final : public KvCache {
 public:
  explicit OwnCache(std::size_t layers) : keys_(layers), values_(layers) {}

  std::int64_t length() const override { return keys_[0].defined() ? keys_[0].size(0) : 0; }
  void truncate(std::int64_t n) override {
    for (auto* layers : {&keys_, &values_}) {
      for (at::Tensor& kept : *layers) {
        if (kept.defined()) kept = kept.narrow(0, 0, std::min(n, kept.size(0)));
      }
    }
  }
  std::unique_ptr<KvCache> clone() const override { return nullptr; }

  std::int64_t fails_at = -1;

 protected:
  std::pair<at::Tensor, at::Tensor> update(std::int64_t layer, const at::Tensor& k,
                                           const at::Tensor& v) override {
    if (layer == fails_at) throw std::runtime_error("the cache is on fire");
    const auto i = static_cast<std::size_t>(layer);
    keys_[i] = keys_[i].defined() ? at::cat({keys_[i], k}) : k.clone();
    values_[i] = values_[i].defined() ? at::cat({values_[i], v}) : v.clone();
    return {keys_[i], values_[i]};
  }

 private:
  std::vector<at::Tensor> keys_;
  std::vector<at::Tensor> values_;
};

TEST_F(Decoding, WorksWithACacheOfTheUsersOwn) {
  OwnCache cache(model_->kv_spec().layers.size());
  EXPECT_LE(relative_error(last_logits(*model_, ids_, 3, cache), alone(*model_, ids_)), 1e-5);
}

TEST_F(Decoding, AFailedPassLeavesNoCacheLonger) {
  DynamicCache good(model_->kv_spec());
  OwnCache bad(model_->kv_spec().layers.size());
  last_logits(*model_, ids_, 0, good);
  last_logits(*model_, ids_, 0, bad);
  const TokenIds more = {8, 11};
  const std::vector<Sequence> batch = {{.tokens = more, .cache = good},
                                       {.tokens = more, .cache = bad}};
  bad.fails_at = 1;
  EXPECT_THROW(model_->forward(batch), std::runtime_error);
  EXPECT_EQ(good.length(), 7);
  EXPECT_EQ(bad.length(), 7);

  bad.fails_at = -1;
  TokenIds all = ids_;
  all.insert(all.end(), more.begin(), more.end());
  EXPECT_EQ(row(model_->forward(batch), 0), alone(*model_, all));
  EXPECT_EQ(bad.length(), 9);
}

TEST_F(Decoding, RefusesWhatMakesNoSense) {
  DynamicCache cache(model_->kv_spec());
  const auto refused = [&](const TokenIds& ids, std::int64_t logits = 1) {
    const Sequence sequence{.tokens = ids, .cache = cache, .logits = logits};
    return error_of([&] { model_->forward({&sequence, 1}); });
  };
  EXPECT_THAT(refused({}), HasSubstr("no tokens"));
  EXPECT_THAT(refused({5, 64}), HasSubstr("found 64"));
  EXPECT_THAT(refused({-1}), HasSubstr("found -1"));
  EXPECT_THAT(refused({5}, 2), HasSubstr("found 2"));
  EXPECT_THAT(refused({5}, -1), HasSubstr("found -1"));
  EXPECT_EQ(cache.length(), 0);

  const TokenIds one = {5};
  const std::vector<Sequence> twice = {{.tokens = one, .cache = cache},
                                       {.tokens = one, .cache = cache}};
  EXPECT_THAT(error_of([&] { model_->forward(twice); }), HasSubstr("sequence 0"));
}

TEST_F(Decoding, RefusesWhatExceedsTheContext) {
  DynamicCache cache(model_->kv_spec());
  const TokenIds full(static_cast<std::size_t>(model_->config().context), 5);
  last_logits(*model_, full, 0, cache);
  try {
    last_logits(*model_, {5}, 0, cache);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kContextOverflow);
    EXPECT_THAT(error.what(), HasSubstr("256"));
  }
  EXPECT_EQ(cache.length(), 256);
}

}  // namespace
}  // namespace quire
