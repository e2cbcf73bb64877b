// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <quire/cpu.h>
#include <quire/inspect.h>

#include <thread>

#include "tests/semantic/encoders.h"

namespace quire {
namespace {

using testing::expect_near;
using testing::golden;
using testing::kEncoders;

// Longer texts sum more, and vectors that are not normalised are larger.
constexpr double kTolerance = 1e-5;

TEST(Embedder, EqualsTransformers) {
  const auto names = testing::encoder_names();
  EXPECT_GE(names.size(), 10U);
  for (const std::string& name : names) {
    SCOPED_TRACE(name);
    const auto embedder = Embedder::load(kEncoders / name, {.threads = 2});
    const Json cases = golden(name)["cases"];
    for (const Json& row : cases) {
      SCOPED_TRACE(row["ids"].size());
      expect_near(embedder->embed_ids(row["ids"].get<TokenIds>()), row["embedding"], kTolerance);
      EXPECT_EQ(embedder->dimension(), std::ssize(row["embedding"]));
    }
  }
}

TEST(Embedder, EqualsTransformersWithEveryInstructionSet) {
  for (const Isa isa : {Isa::kPortable, Isa::kAvx2, Isa::kAvx512}) {
    if (isa > detected_isa()) continue;
    SCOPED_TRACE(isa_name(isa));
    set_isa_limit(isa);
    for (const char* name : {"bert-mean", "mpnet-long", "roberta-f16"}) {
      SCOPED_TRACE(name);
      const auto embedder = Embedder::load(kEncoders / name, {.threads = 1});
      const Json cases = golden(name)["cases"];
      for (const Json& row : cases) {
        expect_near(embedder->embed_ids(row["ids"].get<TokenIds>()), row["embedding"], kTolerance);
      }
    }
    set_isa_limit(Isa::kAvx512);
  }
}

TEST(Embedder, ReadsTextsAsSentenceTransformersDoes) {
  const auto embedder = Embedder::load(kEncoders / "bert-text", {.threads = 1});
  const Json rows = golden("bert-text")["texts"];
  ASSERT_EQ(rows.size(), 10U);
  for (const Json& row : rows) {
    const auto text = row["text"].get<std::string>();
    SCOPED_TRACE(text);
    const Embedding embedding = embedder->embed_in_detail(text);
    EXPECT_EQ(embedding.ids, row["ids"].get<TokenIds>());
    EXPECT_EQ(embedding.unknown_tokens, row["unknown"].get<std::int64_t>());
    EXPECT_EQ(embedding.truncated, row["truncated"].get<bool>());
    EXPECT_EQ(std::ssize(embedding.token_values), std::ssize(embedding.ids) * 20);
    expect_near(embedding.values, row["embedding"], kTolerance);
    EXPECT_EQ(embedder->embed(text), embedding.values);
  }
}

std::vector<std::string> many_texts() {
  const std::vector<std::string> words = {"how", "do", "i", "reset", "my", "x", "a", "b"};
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 200; ++i) {
    std::string text;
    for (std::size_t j = 0; j < i * 7 % 11; ++j) text += words[(i + j * j) % words.size()] + ' ';
    texts.push_back(text);
  }
  return texts;
}

TEST(Embedder, BatchesEqualSingleRunsToTheBit) {
  const auto one = Embedder::load(kEncoders / "bert-text", {.threads = 1});
  const auto three = Embedder::load(kEncoders / "bert-text", {.threads = 3});
  const std::vector<std::string> texts = many_texts();
  const auto batch = three->embed_batch(texts);
  ASSERT_EQ(batch.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(batch[i], one->embed(texts[i])) << texts[i];
  }
  EXPECT_EQ(one->embed_batch(texts), batch);
  EXPECT_TRUE(one->embed_batch({}).empty());
}

TEST(Embedder, ServesManyThreads) {
  const auto embedder = Embedder::load(kEncoders / "bert-text", {.threads = 2});
  const std::vector<std::string> texts = many_texts();
  const auto expected = embedder->embed_batch(texts);
  std::vector<int> wrong(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < wrong.size(); ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < texts.size(); i += 3) {
          if (embedder->embed(texts[i]) != expected[i]) ++wrong[t];
        }
      });
    }
  }
  EXPECT_EQ(wrong, std::vector<int>(4));
}

TEST(Embedder, RoundsWeightsWhenAsked) {
  const Json row = golden("bert-mean")["cases"][3];
  const auto ids = row["ids"].get<TokenIds>();
  const auto exact = Embedder::load(kEncoders / "bert-mean", {.threads = 1})->embed_ids(ids);
  const auto rounded =
      Embedder::load(kEncoders / "bert-mean", {.dtype = DType::kBF16, .threads = 1})
          ->embed_ids(ids);
  EXPECT_NE(rounded, exact);
  double cosine = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    cosine += static_cast<double>(exact[i]) * static_cast<double>(rounded[i]);
  }
  EXPECT_GT(cosine, 0.999);
}

TEST(Embedder, IsWhatAUserDerives) {
  class Lengths : public Embedder {
    std::int64_t dimension() const override { return 2; }
    std::vector<float> embed(std::string_view text) const override {
      return {static_cast<float>(text.size()), 1};
    }
  };
  const Lengths lengths;
  const Embedder& embedder = lengths;
  const std::vector<std::string> texts = {"a", "abc"};
  EXPECT_EQ(embedder.embed_batch(texts), (std::vector<std::vector<float>>{{1, 1}, {3, 1}}));
  EXPECT_EQ(embedder.embed_in_detail("ab").values, (std::vector<float>{2, 1}));
  EXPECT_THROW(embedder.embed_ids(TokenIds{1}), Error);
}

TEST(Embedder, IsInspectedWithoutReadingWeights) {
  const ModelInfo info = inspect(kEncoders / "bert-text");
  EXPECT_EQ(info.config.architecture, "bert");
  EXPECT_EQ(info.config.hidden, 20);
  EXPECT_EQ(info.config.context, 8);
  EXPECT_EQ(info.tokenizer_kind, "wordpiece");
  EXPECT_EQ(info.dtype, DType::kF32);
  EXPECT_EQ(info.kv_spec.bytes_per_token(), 0);
  EXPECT_EQ(inspect(kEncoders / "bert-old").dtype, DType::kBF16);
  EXPECT_EQ(inspect(kEncoders / "roberta-f16").config.context, 32);
}

}  // namespace
}  // namespace quire
